/**
 * What a file in `workloads/` exports as `workload`, beside the function `start` that runs in the process of a
 * contestant and gives `{ round(): Promise<Record<string, number>> }`: the figures of a round, a column each.
 *
 * @typedef {object} Workload
 * @property {string} name - of its file
 * @property {string} title
 * @property {string} folder - of its contestants, in `contestants/`
 * @property {{ key: string, title: string, digits: number }[]} columns - ratios are made of the first
 * @property {number} rounds
 * @property {boolean} [isProcessPerRound] - for what can happen only once in a process
 * @property {(settings: Settings) => Scenario[]} scenarios
 */

/**
 * @typedef {object} Scenario
 * @property {string} name
 * @property {string[]} contestants - files in `contestants/`
 * @property {string} [minimum] - the contestant that the others are compared with
 * @property {Record<string, string>} [minimumOf] - for contestants with another minimum
 * @property {Goal[]} goals
 */

/**
 * What we want to reach: a figure `atMost` (times that of `times`, if given; both without that of `above`, if given),
 * or ahead of all `aheadOf`.
 *
 * @typedef {object} Goal
 * @property {string} of - the contestant
 * @property {string} [column] - the first where not given
 * @property {number} [atMost]
 * @property {string} [times]
 * @property {string} [above]
 * @property {string[]} [aheadOf]
 */

/**
 * @typedef {object} Settings
 * @property {boolean} isQuick - a smoke run: everything small, the figures mean nothing
 * @property {number} [rounds]
 * @property {string[]} [nodeArguments] - for the processes of the contestants
 */
export {};
