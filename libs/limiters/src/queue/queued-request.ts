import type { LimiterCore } from '../engine/limiter-core.js';
import { Waiter } from './waiter.js';

/** A request that waits for one limiter. */
export class QueuedRequest extends Waiter {
  private readonly core: LimiterCore;

  constructor(core: LimiterCore, permits: number, signal: AbortSignal | undefined, deadlineMs: number) {
    super(permits, signal);
    this.core = core;
    this.waitUntil(deadlineMs);
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
