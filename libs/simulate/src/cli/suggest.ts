import type { Readable } from 'node:stream';
import type { PolicyOrChain } from '../policies/policy-options.js';
import type { SimulationReport } from '../report/simulation-report.js';
import { simulate } from '../simulate.js';
import type { LimitSuggestion, PolicyAt } from '../suggestion/limit-suggestion.js';
import { suggestLimit } from '../suggestion/suggest-limit.js';
import type { Flags, SuggestFlag } from './flags.js';
import type { LogInputs } from './log-inputs.js';
import { RepeatableLogs } from './repeatable-logs.js';

/** A limit that was looked for, and how the policy is called that has it. */
export interface NamedSuggestion extends LimitSuggestion {
  readonly name: string;
}

/** What was found, and what the policies do with it. */
export interface Suggested {
  readonly suggestions: readonly NamedSuggestion[];
  /** `null` where no policy has a limit. */
  readonly report: SimulationReport | null;
  readonly inputs: LogInputs;
}

/** Finds the limits of policies, one after the other, and replays the log with those that have one. */
export async function suggest(
  sought: ReadonlyMap<string, PolicyAt>,
  flags: Flags & { readonly suggest: SuggestFlag },
  standardInput: Readable,
): Promise<Suggested> {
  const logs = await RepeatableLogs.of(flags, standardInput);
  const suggestions: NamedSuggestion[] = [];
  const { topKeys: _, ...replay } = flags.options;
  for (const [name, policyAt] of sought) {
    const options = { ...replay, ...flags.suggest };
    // oxlint-disable-next-line no-await-in-loop -- several at once would only need more memory
    suggestions.push({ name, ...(await suggestLimit(policyAt, () => logs.trace(), options)) });
  }
  const policies = suggestions.flatMap(({ name, policy }): [string, PolicyOrChain][] =>
    policy === null ? [] : [[name, policy]],
  );
  const report =
    policies.length === 0 ? null : await simulate(Object.fromEntries(policies), logs.trace(), flags.options);
  return { suggestions, report, inputs: logs.inputs };
}
