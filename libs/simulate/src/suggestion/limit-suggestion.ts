import type { PolicyOrChain } from '../policies/policy-options.js';
import type { SimulationOptions } from '../simulation-options.js';
import type { Trace } from '../simulate.js';
import type { TraceEntry } from '../trace/trace-entry.js';

/** A policy for each limit that may be tried, an integer of at least 1. */
export type PolicyAt = (limit: number) => PolicyOrChain;

/** What can be replayed again and again: an array, or a function that opens the trace anew. */
export type RepeatableTrace = readonly TraceEntry[] | (() => Trace);

/** How much may be refused, and how the trace is replayed. */
export interface SuggestionOptions extends Omit<SimulationOptions, 'onOutcome' | 'topKeys' | 'stepMs'> {
  /** The largest share that may be refused, from 0 to 1. */
  readonly atMost: number;
  /**
   * Of what: `'requests'`, or `'keys'`, of which one counts as refused when one of its requests was.
   * @defaultValue 'requests'
   */
  readonly of?: 'requests' | 'keys' | undefined;
  /** No limit above it is tried; an integer of at least 1. @defaultValue 1,000,000,000 */
  readonly highest?: number | undefined;
}

/** What a limit would have done. */
export interface LimitTrial {
  /** The limit. */
  readonly limit: number;
  /** How many requests it would have refused. */
  readonly refused: number;
  /** The share of the requests, from 0 to 1. */
  readonly refusedShare: number;
  /** How many keys would have had at least one request refused. */
  readonly refusedKeys: number;
  /** The share of the keys, from 0 to 1. */
  readonly refusedKeysShare: number;
}

/** A limit that refuses no more than was allowed. */
export interface LimitSuggestion {
  /** The limit; `null` where none up to the highest refuses so little. */
  readonly limit: number | null;
  /** The policy with that limit. */
  readonly policy: PolicyOrChain | null;
  /** What it would have done. */
  readonly at: LimitTrial | null;
  /** What one less would have done: more than was allowed. `null` where the limit is 1, or none was found. */
  readonly below: LimitTrial | null;
  /** All that were tried, from the smallest to the largest: what more and less would have meant. */
  readonly trials: readonly LimitTrial[];
}
