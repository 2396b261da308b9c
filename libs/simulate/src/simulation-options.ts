import type { TraceEntry } from './trace/trace-entry.js';

/** What became of one request. */
export interface SimulatedOutcome {
  /** The name of the policy that decided. */
  readonly policy: string;
  /** The request; with `spreadSeconds`, at the time at which it was replayed. */
  readonly entry: TraceEntry;
  /** Whom it counted for. */
  readonly key: string;
  /** What happened. */
  readonly outcome: 'granted' | 'refused';
  /** How long it waited before that, in milliseconds. */
  readonly waitedMs: number;
}

/** Told of each decision of a simulation, in the order in which they fall. */
export type OutcomeListener = (outcome: SimulatedOutcome) => void;

/** Options of {@link simulate}. */
export interface SimulationOptions {
  /**
   * How long the work of a request is assumed to take where its entry doesn't say it, in milliseconds of at least 0.
   * Concurrency limits need one of both.
   */
  readonly durationMs?: number | undefined;
  /** Clients wait so many milliseconds in a queue, then they give up. @defaultValue they wait for ever */
  readonly maxWaitMs?: number | undefined;
  /**
   * How far an entry may stand behind a younger one, in milliseconds; such entries are sorted, what comes later still is
   * left out and reported. @defaultValue 60,000
   */
  readonly reorderWindowMs?: number | undefined;
  /**
   * `true`: where all entries of a second stand at its first instant, as in logs in whole seconds, they are spread
   * evenly over it. @defaultValue false
   */
  readonly spreadSeconds?: boolean | undefined;
  /** How many of the keys that were refused most are reported. @defaultValue 10 */
  readonly topKeys?: number | undefined;
  /** The step of the timelines, in milliseconds above 0. @defaultValue chosen so that there are at most 240 */
  readonly stepMs?: number | undefined;
  /** Told of each decision. */
  readonly onOutcome?: OutcomeListener | undefined;
}
