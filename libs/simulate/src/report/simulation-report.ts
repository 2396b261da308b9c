import type { LateEntries } from '../trace/time-order.js';

/** How long requests waited that were granted after waiting, in milliseconds. */
export interface WaitReport {
  /** Half of them waited no longer. */
  readonly medianMs: number;
  /** 95 % of them waited no longer. */
  readonly p95Ms: number;
  /** The longest wait; the other two are within 1 % where there were more than 10,000 different waits. */
  readonly maxMs: number;
}

/** What became of requests. Every request is exactly one of the first three. */
export interface OutcomeCounts {
  /** Granted without waiting. */
  readonly grantedAtOnce: number;
  /** Granted later, from the queue. */
  readonly grantedAfterWait: number;
  /** Refused, at once or after waiting. */
  readonly refused: number;
}

/** A key and what became of its requests. */
export interface KeyReport extends OutcomeCounts {
  /** Whom they counted for; the keys of a chain's members, joined by ` | `. */
  readonly key: string;
  /** How many there were. */
  readonly requests: number;
}

/** What became of the requests of one step of time, by the time at which they came. */
export interface TimelineStep extends OutcomeCounts {
  /** Where the step begins, in the trace's time. */
  readonly startMs: number;
}

/** The requests over time. */
export interface Timeline {
  /** Milliseconds between the beginnings of two steps. */
  readonly stepMs: number;
  /** All steps from the first request's to the last one's, empty ones included. */
  readonly steps: readonly TimelineStep[];
}

/** What a policy made of the trace. */
export interface PolicyReport extends OutcomeCounts {
  /** Its name. */
  readonly name: string;
  /** The policy in the short notation. */
  readonly policy: string;
  /** The requests that it decided. */
  readonly requests: number;
  /** The share of them that it refused, from 0 to 1; 0 where there were none. */
  readonly refusedShare: number;
  /** Of the refused ones, those that waited first, and gave up. */
  readonly gaveUp: number;
  /** Requests that it doesn't apply to, by `paths` and `methods`. */
  readonly outside: number;
  /** Requests that have no key, which nobody limits. */
  readonly withoutKey: number;
  /** How long those waited that were granted after waiting; `null` where nobody did. */
  readonly waits: WaitReport | null;
  /** How many different keys there were. */
  readonly keys: number;
  /** How many of them had at least one request refused. */
  readonly refusedKeys: number;
  /** The keys that were refused most, the most first. */
  readonly topRefused: readonly KeyReport[];
  /** The requests over time. */
  readonly timeline: Timeline;
}

/** What a simulation found. */
export interface SimulationReport {
  /** The entries of the trace, the late ones included. */
  readonly entries: number;
  /** The time of the first entry that was replayed; `null` where there was none. */
  readonly fromMs: number | null;
  /** The time of the last entry that was replayed. */
  readonly toMs: number | null;
  /** Entries that were left out because they came too late to be sorted. */
  readonly late: LateEntries;
  /** A report for each policy, in the order in which they were given. */
  readonly policies: readonly PolicyReport[];
}
