import { requirePermitCount } from '../checks.js';
import { decidesLike, waitsOtherwise } from '../engine/participants.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { AcquiresOrWaits } from './acquire-or-wait.js';
import { acquireOrWait } from './acquire-or-wait.js';
import type { WaitLimits } from './partitioned-rate-limiter.js';
import { PartitionedRateLimiter } from './partitioned-rate-limiter.js';

/**
 * What the partitioned limiters of this package have in common: they answer without a promise where nobody has to wait.
 * One of your own extends {@link PartitionedRateLimiter}.
 */
export abstract class ImmediatePartitionedRateLimiter<TResource>
  extends PartitionedRateLimiter<TResource>
  implements AcquiresOrWaits<TResource>
{
  /** The lease itself where nobody has to wait; see {@link acquireOrWait}. */
  [acquireOrWait](
    resource: TResource,
    permitCount: number,
    wait: () => WaitLimits,
  ): RateLimitLease | Promise<RateLimitLease> {
    if (!decidesLike(this, this.original)) return this.acquire(resource, permitCount, wait());
    const permits = requirePermitCount(permitCount);
    this.assertUsable();
    return this.answer(resource, permits, wait);
  }

  /** The prototype whose decisions are meant: a subclass may have others. @internal */
  protected abstract get original(): object;

  /** The lease, or the promise of one where somebody may have to wait; `wait` is called before that. @internal */
  protected abstract answer(
    resource: TResource,
    permitCount: number,
    wait: () => WaitLimits,
  ): RateLimitLease | Promise<RateLimitLease>;

  protected override acquireCore(
    resource: TResource,
    permitCount: number,
    signal?: AbortSignal,
  ): Promise<RateLimitLease> {
    return this.#promise(resource, permitCount, { maxWaitMs: Infinity, signal });
  }

  protected override acquireWithin(
    resource: TResource,
    permitCount: number,
    wait: WaitLimits,
  ): Promise<RateLimitLease> {
    if (waitsOtherwise(this, this.original)) return super.acquireWithin(resource, permitCount, wait);
    return this.#promise(resource, permitCount, wait);
  }

  #promise(resource: TResource, permitCount: number, wait: WaitLimits): Promise<RateLimitLease> {
    try {
      const answer = this.answer(resource, permitCount, () => wait);
      return answer instanceof Promise ? answer : Promise.resolve(answer);
    } catch (error) {
      return Promise.reject(error);
    }
  }
}
