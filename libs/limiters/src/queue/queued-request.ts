import type { LimiterCore } from '../engine/limiter-core.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import { Waiter } from './waiter.js';

/** A request that waits for one limiter. */
export class QueuedRequest extends Waiter {
  private readonly core: LimiterCore;

  constructor(core: LimiterCore, permits: number, signal: AbortSignal | undefined, deadlineMs: number) {
    super(permits, signal);
    this.core = core;
    this.waitUntil(deadlineMs);
  }

  /** Begins to wait. */
  begin(): Promise<RateLimitLease> {
    try {
      this.core.enter(this);
    } catch (error) {
      // Its clock may set no timer. What stood on in the queue would take permits that nobody gives back.
      this.fail(error);
    }
    return this.promise;
  }

  override takeTurn(): void {
    this.queue?.delete(this);
    this.settle(this.core.take(this.permits));
  }

  /** Gets permits that come back as they are, without their having been free. */
  takeReturned(): void {
    this.queue!.delete(this);
    this.settle(this.core.grant(this.permits));
  }
}
