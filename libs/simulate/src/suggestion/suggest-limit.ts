import { shown } from '../errors/shown.js';
import { SimulationError } from '../errors/simulation-error.js';
import type { PolicyReport } from '../report/simulation-report.js';
import type { Trace } from '../simulate.js';
import { simulate } from '../simulate.js';
import { searchLimit } from './limit-search.js';
import type {
  LimitSuggestion,
  LimitTrial,
  PolicyAt,
  RepeatableTrace,
  SuggestionOptions,
} from './limit-suggestion.js';

const HIGHEST = 1_000_000_000;

/**
 * Finds a limit by replaying a trace: the one under which at most a given share of the requests, or of the keys, would
 * have been refused, while with one less it would have been more.
 *
 * It is the smallest such limit wherever more permits never lead to more refusals: for a fixed window, a bucket that
 * refills greedily and a concurrency limit, alone, without a queue, and with one permit a request. Elsewhere a smaller
 * one may do as well, because what is granted more can be in the way of others.
 *
 * @param policyAt - the policy with a limit: `(limit) => ({ algorithm: 'fixedWindow', permitLimit: limit, … })`.
 * @param trace - the requests; it is replayed some five times, with several limits at once.
 * @throws SimulationError - for a policy, an option or an entry that can't be used; whatever the trace throws.
 */
export async function suggestLimit(
  policyAt: PolicyAt,
  trace: RepeatableTrace,
  options: SuggestionOptions,
): Promise<LimitSuggestion> {
  checkSubject(policyAt, trace);
  const { atMost, of = 'requests', highest = HIGHEST, ...replay } = checkedOptions(options);
  const trials = new Map<number, LimitTrial>();
  const limit = await searchLimit(async (limits) => {
    const policies = Object.fromEntries(limits.map((one) => [String(one), policyAt(one)]));
    const opened: Trace = typeof trace === 'function' ? trace() : trace;
    const report = await simulate(policies, opened, { ...replay, topKeys: 0 });
    const tried = report.policies.map(trialOf);
    for (const trial of tried) trials.set(trial.limit, trial);
    return tried.map((trial) => (of === 'keys' ? trial.refusedKeysShare : trial.refusedShare) <= atMost);
  }, highest);
  return {
    limit,
    policy: limit === null ? null : policyAt(limit),
    at: trials.get(limit ?? NaN) ?? null,
    below: trials.get((limit ?? NaN) - 1) ?? null,
    trials: [...trials.values()].sort((one, other) => one.limit - other.limit),
  };
}

function trialOf({ name, refused, refusedShare, refusedKeys, keys }: PolicyReport): LimitTrial {
  const refusedKeysShare = keys === 0 ? 0 : refusedKeys / keys;
  return { limit: Number(name), refused, refusedShare, refusedKeys, refusedKeysShare };
}

function checkSubject(policyAt: unknown, trace: unknown): void {
  if (typeof policyAt !== 'function')
    throw invalid('the first argument', policyAt, 'a function that makes the policy for a limit');
  if (typeof trace !== 'function' && !Array.isArray(trace))
    throw invalid(
      'the trace',
      trace,
      'an array, or a function that opens it anew: it is replayed several times',
    );
}

function checkedOptions(options: SuggestionOptions): SuggestionOptions {
  if (typeof options !== 'object' || options === null) throw invalid('options', options, 'an options object');
  const { atMost, of, highest } = options;
  if (!(typeof atMost === 'number' && atMost >= 0 && atMost <= 1))
    throw invalid('atMost', atMost, 'a share from 0 to 1, as 0.001 for 0.1 %');
  if (of !== undefined && of !== 'requests' && of !== 'keys') throw invalid('of', of, "'requests' or 'keys'");
  if (highest !== undefined && !(Number.isSafeInteger(highest) && highest >= 1))
    throw invalid('highest', highest, 'an integer of at least 1');
  return options;
}

function invalid(what: string, value: unknown, allowed: string): SimulationError {
  return new SimulationError(
    'ERR_RL_INVALID_OPTION',
    `suggestLimit: ${what} must be ${allowed}, but got ${shown(value)}.`,
  );
}
