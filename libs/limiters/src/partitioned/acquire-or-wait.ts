import type { RateLimitLease } from '../rate-limit-lease.js';
import type { WaitLimits } from './partitioned-rate-limiter.js';

/**
 * The key under which a partitioned limiter answers without a promise where nobody has to wait. Who asks for many
 * requests, of which few wait, need not prepare the wait of all of them.
 */
export const acquireOrWait: unique symbol = Symbol.for('ratelease.acquire-or-wait') as never;

/** A partitioned limiter that answers at once where it can; see {@link acquireOrWait}. */
export interface AcquiresOrWaits<TResource> {
  /**
   * The lease, granted or refused, or the promise of one that has to wait.
   *
   * @param wait - called before a wait, for what bounds it.
   * @throws what `acquire` rejects with, unless it comes to a wait.
   */
  [acquireOrWait](
    resource: TResource,
    permitCount: number,
    wait: () => WaitLimits,
  ): RateLimitLease | Promise<RateLimitLease>;
}
