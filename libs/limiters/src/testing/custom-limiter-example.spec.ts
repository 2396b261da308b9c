import type { Clock, RateLimiterStatistics } from '../index.js';
import { MetadataName, ObjectDisposedError, RateLimiter, RateLimitLease } from '../index.js';
import { rateLimiterConformance } from './index.js';

/**
 * An example of a limiter of your own: it grants each permit once, as a trial licence does, until the time
 * comes at which all are there again. It has no queue, so `acquire` answers as `attemptAcquire` does.
 */
class QuotaLimiter extends RateLimiter {
  readonly #clock: Clock;
  readonly #permitLimit: number;
  readonly #renewalMs: number;
  #renewsAtMs = Infinity;
  #spent = 0;
  #granted = 0;
  #refused = 0;
  #idleSinceMs: number;
  #isDisposed = false;

  constructor(options: { permitLimit: number; renewalMs: number; clock: Clock }) {
    super();
    this.#clock = options.clock;
    this.#permitLimit = options.permitLimit;
    this.#renewalMs = options.renewalMs;
    this.#idleSinceMs = options.clock.now();
  }

  override get idleDurationMs(): number | null {
    this.#renew();
    return this.#spent > 0 ? null : Math.max(0, this.#clock.now() - this.#idleSinceMs);
  }

  override getStatistics(): RateLimiterStatistics {
    this.#renew();
    return {
      currentAvailablePermits: this.#permitLimit - this.#spent,
      currentQueuedCount: 0,
      totalFailedLeases: this.#refused,
      totalSuccessfulLeases: this.#granted,
    };
  }

  override dispose(): void {
    this.#isDisposed = true;
  }

  /** What can't be considered at all: the base class has checked that the count is an integer. */
  protected override assertAcquirable(permitCount: number): void {
    if (permitCount > this.#permitLimit) throw new RangeError(`permitCount is above ${this.#permitLimit}.`);
    if (this.#isDisposed) throw new ObjectDisposedError('QuotaLimiter');
  }

  protected override attemptAcquireCore(permitCount: number): RateLimitLease {
    this.#renew();
    if (this.#permitLimit - this.#spent < Math.max(1, permitCount)) {
      this.#refused++;
      return new QuotaLease(Math.max(1, Math.ceil(this.#renewsAtMs - this.#clock.now())));
    }
    this.#granted++;
    if (this.#spent === 0 && permitCount > 0) this.#renewsAtMs = this.#clock.now() + this.#renewalMs;
    this.#spent += permitCount;
    return new QuotaLease(undefined);
  }

  protected override async acquireCore(permitCount: number): Promise<RateLimitLease> {
    return this.attemptAcquireCore(permitCount);
  }

  #renew(): void {
    if (this.#clock.now() < this.#renewsAtMs) return;
    this.#idleSinceMs = this.#renewsAtMs;
    this.#renewsAtMs = Infinity;
    this.#spent = 0;
  }
}

class QuotaLease extends RateLimitLease {
  readonly #retryAfterMs: number | undefined;

  constructor(retryAfterMs: number | undefined) {
    super();
    this.#retryAfterMs = retryAfterMs;
  }

  override get isAcquired(): boolean {
    return this.#retryAfterMs === undefined;
  }

  override get metadataNames(): Iterable<string> {
    return this.isAcquired ? [] : [MetadataName.retryAfter.name];
  }

  override getMetadata<T>(name: MetadataName<T>): T | undefined;
  override getMetadata(name: string): unknown;
  override getMetadata(name: string | MetadataName<unknown>): unknown {
    return String(name) === MetadataName.retryAfter.name ? this.#retryAfterMs : undefined;
  }
}

describe('a limiter of your own', () => {
  const checks = rateLimiterConformance(
    (clock) => new QuotaLimiter({ permitLimit: 5, renewalMs: 60_000, clock }),
    { permitLimit: 5, replenishedAfterMs: 60_000 },
  );

  it.each(checks)('$name', ({ run }) => run());
});
