import type {
  ConcurrencyLimiterOptions,
  FixedWindowRateLimiterOptions,
  SlidingWindowRateLimiterOptions,
  TokenBucketRateLimiterOptions,
} from '@ratelease/limiters';
import type { TraceEntry } from '../trace/trace-entry.js';

/** The numbers of each algorithm, without what makes time: that is the trace's. */
export interface AlgorithmNumbers {
  /** How many at once. */
  readonly concurrency: Omit<ConcurrencyLimiterOptions, 'clock' | 'autoReplenishment'>;
  /** A rate, with bursts up to the size of the bucket. */
  readonly tokenBucket: Omit<TokenBucketRateLimiterOptions, 'clock' | 'autoReplenishment'>;
  /** So many in each window, counted from its first request. */
  readonly fixedWindow: Omit<FixedWindowRateLimiterOptions, 'clock' | 'autoReplenishment'>;
  /** So many in any window, by segments. */
  readonly slidingWindow: Omit<SlidingWindowRateLimiterOptions, 'clock' | 'autoReplenishment'>;
}

/** The name of an algorithm. */
export type AlgorithmName = keyof AlgorithmNumbers;

/**
 * Whom requests count for:
 *
 * - `'shared'`: one counter for all,
 * - `'ip'`: the client's IPv4 address, or the /64 of its IPv6 address,
 * - `'address'`: the client's address as it stands in the log,
 * - `'user'`, `'method'`, `'path'`, or the name of any other field of the trace,
 * - `'user/ip'`: the first of them that a request has,
 * - `'ip+path'` or `['ip', 'path']`: all of them together,
 * - a function that says it; `undefined` leaves the request without a limit.
 */
export type PolicyKey = string | readonly string[] | ((entry: TraceEntry) => string | undefined);

/** A policy as an options object, like one of the Nest module: an algorithm, its numbers, and whom requests count for. */
export type SimulatedPolicy = {
  readonly [Name in AlgorithmName]: AlgorithmNumbers[Name] & {
    /** How it is limited. */
    readonly algorithm: Name;
    /** Whom requests count for. @defaultValue `'shared'` */
    readonly key?: PolicyKey | undefined;
    /** Only requests with such a path, `*` standing for any text: `'/reports*'`. @defaultValue all */
    readonly paths?: string | readonly string[] | undefined;
    /** Only requests with such a method. @defaultValue all */
    readonly methods?: string | readonly string[] | undefined;
  };
}[AlgorithmName];

/** A policy, or several that have to grant together. */
export type PolicyOrChain = SimulatedPolicy | readonly SimulatedPolicy[];
