import type { RateLimitLease } from './rate-limit-lease.js';
import type { RateLimiterStatistics } from './rate-limiter-statistics.js';

/** What a request may bring along when it can wait. */
export interface AcquireOptions {
  /** Ends the wait: the promise rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The longest wait in milliseconds, at least 0; `Infinity` is no limit. A request that is not served in time
   * resolves with a refused lease, reason `Wait limit reached`; at once, where that can be foreseen.
   */
  readonly maxWaitMs?: number | undefined;
}

/**
 * Everything about a limiter that needs no synchronous answer: the supertype of the limiters in this process
 * and of those that ask a server. It goes wherever waiting is enough: partitions, chains, policies.
 */
export interface AsyncRateLimiter extends AsyncDisposable {
  /**
   * Asks for permits and may wait for them in the limiter's queue.
   *
   * @param permitCount - integer of at least 0, at most the limit; 0 asks without taking. Default 1.
   * @returns a promise of a granted or a refused lease. It rejects for misuse (`RangeError`, `TypeError`), with
   * {@link ObjectDisposedError} after disposal and with `signal.reason` on abort; never throws synchronously.
   */
  acquire(permitCount?: number, options?: AcquireOptions): Promise<RateLimitLease>;

  /** A snapshot of the counters, or `null` where the limiter keeps none. */
  getStatistics(): RateLimiterStatistics | null;

  /** Milliseconds since all permits were back and nobody waited; `null` while in use. */
  readonly idleDurationMs: number | null;

  /** Ends the limiter: waiting requests resolve refused, later ones are errors. May return a promise where ending takes time. */
  dispose(): void | Promise<void>;
}

/** The supertype of partitioned limiters that needs no synchronous answer; see {@link AsyncRateLimiter}. */
export interface AsyncPartitionedRateLimiter<TResource> extends AsyncDisposable {
  /**
   * Asks the limiter of the resource's partition for permits; see {@link AsyncRateLimiter.acquire}.
   *
   * @param resource - what the partitioner makes a key of.
   */
  acquire(resource: TResource, permitCount?: number, options?: AcquireOptions): Promise<RateLimitLease>;

  /** The counters of the resource's partition, or `null` where there are none. */
  getStatistics(resource: TResource): RateLimiterStatistics | null;

  /** Every live partition asks its options factory again at its next use, and keeps what is spent. */
  refreshOptions?(): void;

  /** Ends the limiter and all its partitions. */
  dispose(): void | Promise<void>;
}
