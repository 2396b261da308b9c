import {
  ConcurrencyLimiter,
  createPartitionedRateLimiter,
  RateLimiter,
  RateLimitPartition,
} from '../../src/index.js';
import type {
  PartitionedRateLimiterOptions,
  RateLimiterStatistics,
  RateLimitLease,
} from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';

/** A limiter of another maker: what it is asked for it hands to one of ours, unless it fails. */
export class ForeignLimiter extends RateLimiter {
  readonly inner = new ConcurrencyLimiter({ permitLimit: 2, queueLimit: 2 });
  replenished = 0;
  disposed = 0;
  idleMs: number | null = null;
  failing: 'tryReplenish' | 'dispose' | 'idleDurationMs' | 'getStatistics' | 'nothing' = 'nothing';

  override get idleDurationMs(): number | null {
    this.#fail('idleDurationMs');
    return this.idleMs;
  }

  override getStatistics(): RateLimiterStatistics {
    this.#fail('getStatistics');
    return this.inner.getStatistics();
  }

  override tryReplenish(): boolean {
    this.replenished++;
    this.#fail('tryReplenish');
    return true;
  }

  override dispose(): void {
    this.disposed++;
    this.#fail('dispose');
    this.inner.dispose();
  }

  protected override attemptAcquireCore(permits: number): RateLimitLease {
    return this.inner.attemptAcquire(permits);
  }

  protected override acquireCore(permits: number, signal?: AbortSignal): Promise<RateLimitLease> {
    return this.inner.acquire(permits, { signal });
  }

  #fail(what: string): void {
    if (this.failing === what) throw new Error(`${what} failed`);
  }
}

/** Keeps such limiters in partitions, and notes what is told of them. */
export class Keeper {
  readonly clock = new FakeClock();
  readonly made = new Map<string, ForeignLimiter>();
  readonly errors: [string, unknown][] = [];
  readonly limiter;

  constructor(options: PartitionedRateLimiterOptions<string> = {}) {
    this.limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.get(key, () => {
          const one = new ForeignLimiter();
          this.made.set(key, one);
          return one;
        }),
      {
        clock: this.clock,
        onError: (error, key) => this.errors.push([(error as Error).message, key]),
        ...options,
      },
    );
  }

  of(key: string): ForeignLimiter {
    return this.made.get(key)!;
  }
}
