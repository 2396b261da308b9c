import {
  ConcurrencyLimiter,
  createChainedRateLimiter,
  FixedWindowRateLimiter,
  MetadataName,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '../../src/index.js';
import type { RateLimiter, RateLimitLease } from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';

/** Lets everything run that is due. */
export const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
export const WINDOW_MS = 100;

/** What has become of a request. */
export interface Progress {
  lease?: RateLimitLease;
  error?: unknown;
}

/** Follows a request without waiting for it. */
export function follow(promise: Promise<RateLimitLease>): Progress {
  const progress: Progress = {};
  promise.then(
    (lease) => (progress.lease = lease),
    (error: unknown) => (progress.error = error),
  );
  return progress;
}

/** What a refusal says of when to come back. */
export function retryAfterMs(lease: RateLimitLease): number | undefined {
  expect(lease.isAcquired).toBe(false);
  return lease.getMetadata(MetadataName.retryAfter);
}

/**
 * Requests of a chain are passed over until they reserve: at their turn in the rate what runs at once is taken, and
 * the other way round. Then they wait before everybody else in the rate, which is spent.
 */
export class PassedOver {
  readonly clock = new FakeClock();
  readonly running: ConcurrencyLimiter;
  readonly rate: RateLimiter;
  /** A member that always has enough, and in which nobody ever waits. */
  readonly roomy: ConcurrencyLimiter;
  readonly chain: RateLimiter;
  running2: RateLimitLease[] = [];
  readonly #limit: number;

  constructor(createRate: (clock: FakeClock) => RateLimiter, limit: number) {
    this.#limit = limit;
    const options = { queueLimit: 10, clock: this.clock };
    // In the order in which requests reserve.
    this.roomy = new ConcurrencyLimiter({ ...options, permitLimit: 9 });
    this.rate = createRate(this.clock);
    this.running = new ConcurrencyLimiter({ ...options, permitLimit: 2 });
    this.chain = createChainedRateLimiter(this.rate, this.running, this.roomy);
  }

  /** Waits with so many permits each until all of these reserve. */
  async wait(permits: readonly number[], signal?: AbortSignal): Promise<Progress[]> {
    this.rate.attemptAcquire(this.#limit);
    this.#run();
    const requests = permits.map((count) => follow(this.chain.acquire(count, { signal })));
    for (let turn = 0; turn < 2; turn++) {
      this.clock.advance(WINDOW_MS);
      this.rate.attemptAcquire(this.#limit);
      this.endWork();
      this.#run();
    }
    await settled();
    return requests;
  }

  /** What runs ends, one permit after the other. */
  endWork(): void {
    for (const lease of this.running2.splice(0)) lease.dispose();
  }

  #run(): void {
    this.running2 = [this.running.attemptAcquire(1), this.running.attemptAcquire(1)];
    expect(this.running2.every((lease) => lease.isAcquired)).toBe(true);
  }
}

/** Rates of three permits a window. */
export const fixedWindow = (clock: FakeClock): RateLimiter =>
  new FixedWindowRateLimiter({ permitLimit: 3, windowMs: WINDOW_MS, queueLimit: 10, clock });

export const bucket = (clock: FakeClock): RateLimiter =>
  new TokenBucketRateLimiter({
    tokenLimit: 3,
    tokensPerPeriod: 3,
    replenishmentPeriodMs: WINDOW_MS,
    queueLimit: 10,
    clock,
  });

export const lumps = (clock: FakeClock): RateLimiter =>
  new TokenBucketRateLimiter({
    tokenLimit: 3,
    tokensPerPeriod: 3,
    replenishmentPeriodMs: WINDOW_MS,
    refill: 'interval',
    queueLimit: 10,
    clock,
  });

export const slidingWindow = (clock: FakeClock): RateLimiter =>
  new SlidingWindowRateLimiter({
    permitLimit: 3,
    windowMs: WINDOW_MS,
    segmentsPerWindow: 2,
    queueLimit: 10,
    clock,
  });
