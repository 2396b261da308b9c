import type { AsyncPartitionedRateLimiter, AsyncRateLimiter } from '../async-rate-limiter.js';
import { decidesLike } from '../engine/participants.js';
import { asyncOnly, errorsOfEach, ObjectDisposedError, throwCollected } from '../errors.js';
import { ImmediatePartitionedRateLimiter } from '../partitioned/immediate-partitioned-rate-limiter.js';
import { BoundLimiter, partitionLimiterOf } from '../partitioned/bound-limiter.js';
import type { PartitionedRateLimiter, WaitLimits } from '../partitioned/partitioned-rate-limiter.js';
import { keepAll, whileAwaited } from '../partitioned/table/awaited-limiters.js';
import { RowLimiter } from '../partitioned/table/row-limiter.js';
import { throwIfAborted } from '../queue/abort-subscription.js';
import { RateLimitLease } from '../rate-limit-lease.js';
import { isRateLimiter } from '../rate-limiter.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';
import { acquireChain, attemptChain } from './chain-decision.js';
import type { Endable } from './chain-end.js';
import { endablesAmong, hasEnded, hasOneEnded } from './chain-end.js';
import { decidingLinksOf } from './chain-link.js';
import { partitionOf } from './chain-participant.js';
import { noteRefusal } from './chain-refusal.js';
import { Instant } from './instant.js';
import { tryDecideOutright, tryGrantOutright } from './outright-decision.js';
import type { ChainRequest } from './chain-request.js';
import { withdrawAll } from './chain-request.js';
import { combineStatistics } from './chain-statistics.js';
import { requireMembers } from './chained-rate-limiter.js';
import { acquireOneByOne } from './joint-ask.js';
import { acquireByOne, acquireJointly, hasMembersElsewhere, soleDeciderOf } from './joint-chain.js';
import type { EndableWait } from './joint-decision.js';
import { partitionsAmong } from './partitions-behind.js';
import type { ChainDecider } from './resolved-chain.js';
import { ResolvedChain } from './resolved-chain.js';
import { ownerOf } from './resolved-owner.js';
import { attemptInOrder } from './sequential-chain.js';

/** Several partitioned limiters that grant together or not at all; see {@link createChainedPartitionedRateLimiter}. */
export class ChainedPartitionedRateLimiter<TResource> extends ImmediatePartitionedRateLimiter<TResource> {
  /** @internal */
  readonly waiting = new Set<ChainRequest>();
  /** @internal */
  readonly waitingElsewhere = new Set<EndableWait>();
  readonly #limiters: readonly AsyncPartitionedRateLimiter<TResource>[];
  readonly #endables: readonly Endable[];
  readonly #decider: ChainDecider = {
    attempt: (limiters, permits) => this.#attemptAll(limiters, permits),
    acquire: (limiters, permits, wait) => this.#acquireAll(limiters, permits, wait),
  };
  #isDisposed = false;

  /** @throws TypeError `ERR_RL_INVALID_ARGUMENT` - without members, or with one that isn't a partitioned limiter. */
  constructor(limiters: readonly AsyncPartitionedRateLimiter<TResource>[]) {
    super();
    this.#limiters = requireMembers(limiters, isMember, 'PartitionedRateLimiter');
    this.#endables = endablesAmong(this.#limiters);
  }

  /** @internal */
  get hasEnded(): boolean {
    return this.#isDisposed || hasOneEnded(this.#endables);
  }

  /** @internal The same for chains around this one. */
  get [hasEnded](): boolean {
    return this.hasEnded;
  }

  override getStatistics(resource: TResource): RateLimiterStatistics | null {
    const all = this.#limiters.map((limiter) => limiter.getStatistics(resource));
    return all.every((one) => one === null) ? null : combineStatistics(all);
  }

  override refreshOptions(): void {
    const errors = errorsOfEach(this.#limiters, (limiter) => limiter.refreshOptions?.());
    throwCollected(errors, 'Several members of a chain failed to refresh their options.');
  }

  /** Ends the chain and its waiters; its members live on, and so do the leases it has granted. */
  override dispose(): void {
    this.#isDisposed = true;
    withdrawAll(this);
  }

  /** What stands for the resource in a chain around this one: the partitions of all members. */
  [partitionOf](resource: TResource, instant?: Instant): AsyncRateLimiter | RateLimitLease {
    this.assertUsable();
    if (!decidesLike(this, ChainedPartitionedRateLimiter.prototype)) return new BoundLimiter(this, resource);
    const limiters = this.#resolve(resource, instant);
    return limiters instanceof RateLimitLease ? limiters : new ResolvedChain(limiters, this.#decider, this);
  }

  /** @internal */
  protected override get original(): object {
    return ChainedPartitionedRateLimiter.prototype;
  }

  protected override assertUsable(): void {
    if (this.#isDisposed) throw new ObjectDisposedError('ChainedPartitionedRateLimiter');
  }

  protected override attemptAcquireCore(resource: TResource, permitCount: number): RateLimitLease {
    const instant = new Instant();
    const limiters = this.#resolve(resource, instant);
    if (limiters instanceof RateLimitLease) return limiters;
    return tryDecideOutright(limiters, permitCount, instant) ?? this.#attemptAll(limiters, permitCount);
  }

  /** @internal */
  protected override answer(
    resource: TResource,
    permitCount: number,
    wait: () => WaitLimits,
  ): RateLimitLease | Promise<RateLimitLease> {
    const instant = new Instant();
    const limiters = this.#resolve(resource, instant);
    if (limiters instanceof RateLimitLease) return limiters;
    const lease = tryGrantOutright(limiters, permitCount, instant);
    if (lease !== null) return lease;
    const bounds = wait();
    // Who doesn't wait any more must not make others leave.
    if (bounds.signal !== undefined) throwIfAborted(bounds.signal);
    return this.#acquireAll(limiters, permitCount, bounds);
  }

  #attemptAll(limiters: readonly AsyncRateLimiter[], permitCount: number): RateLimitLease {
    const links = decidingLinksOf(limiters, permitCount);
    if (links !== null) return attemptChain(links, permitCount);
    return attemptInOrder(limiters.map((limiter) => () => attempt(limiter, permitCount)));
  }

  #acquireAll(
    limiters: readonly AsyncRateLimiter[],
    permitCount: number,
    wait: WaitLimits,
  ): Promise<RateLimitLease> {
    const links = decidingLinksOf(limiters, permitCount);
    const decider = links === null ? soleDeciderOf(limiters) : null;
    if (decider !== null) return acquireByOne(decider, limiters, permitCount, wait, this);
    const owner = ownerOf(this, limiters);
    if (links !== null) return acquireChain(links, permitCount, owner, wait);
    return whileAwaited(partitionsAmong(limiters), () =>
      hasMembersElsewhere(limiters)
        ? acquireJointly(limiters, permitCount, wait, this)
        : acquireOneByOne(limiters, { permits: permitCount, chain: this }, wait),
    );
  }

  /**
   * The limiters behind the resource, each member's partitioner run once; or the refusal of a member at its cap.
   *
   * @param instant - the moment at which partitions are looked up, where that of the decision may be the same.
   */
  #resolve(resource: TResource, instant?: Instant): AsyncRateLimiter[] | RateLimitLease {
    const members = this.#limiters;
    // oxlint-disable-next-line unicorn/no-new-array -- one that grows by being pushed to makes room for seventeen
    const limiters = new Array<AsyncRateLimiter>(members.length);
    let ends: (() => void)[] | null = null;
    try {
      for (let index = 0; index < members.length; index++) {
        // The partitioner of the next one may use the members before it: their partitions stay what they are.
        if (index > 0 && limiters[index - 1]!.constructor !== RowLimiter)
          (ends ??= []).push(keepAll(partitionsAmong([limiters[index - 1]!])));
        const limiter = partitionLimiterOf(members[index]!, resource, instant);
        if (limiter.constructor !== RowLimiter && limiter instanceof RateLimitLease) {
          noteRefusal(limiter, index);
          return limiter;
        }
        limiters[index] = limiter;
      }
    } finally {
      if (ends !== null) for (const end of ends) end();
    }
    return limiters;
  }
}

function isMember(value: unknown): boolean {
  return (
    typeof (value as AsyncPartitionedRateLimiter<unknown> | null)?.acquire === 'function' &&
    !isRateLimiter(value)
  );
}

function attempt(limiter: AsyncRateLimiter, permitCount: number): RateLimitLease {
  if (limiter instanceof BoundLimiter || isRateLimiter(limiter)) return limiter.attemptAcquire(permitCount);
  throw asyncOnly(limiter);
}

/**
 * Makes one limiter of several partitioned ones: a request is granted by the partitions of all of them in one
 * instant, or charged to none; see {@link createChainedRateLimiter}.
 *
 * @param limiters - at least one.
 * @throws TypeError `ERR_RL_INVALID_ARGUMENT` - without members, or with one that isn't a partitioned limiter.
 */
export function createChainedPartitionedRateLimiter<TResource>(
  ...limiters: PartitionedRateLimiter<TResource>[]
): ChainedPartitionedRateLimiter<TResource>;
/** The same with members that can't answer at once: what comes out can't either. */
export function createChainedPartitionedRateLimiter<TResource>(
  ...limiters: AsyncPartitionedRateLimiter<TResource>[]
): AsyncPartitionedRateLimiter<TResource>;
export function createChainedPartitionedRateLimiter<TResource>(
  ...limiters: AsyncPartitionedRateLimiter<TResource>[]
): ChainedPartitionedRateLimiter<TResource> {
  return new ChainedPartitionedRateLimiter(limiters);
}
