import type { AsyncPartitionedRateLimiter, AsyncRateLimiter } from '../async-rate-limiter.js';
import type { ChainParticipant } from '../chained/chain-participant.js';
import { chainParticipants } from '../chained/chain-participant.js';
import { partitionsAmong, partitionsBehind } from '../chained/partitions-behind.js';
import { RateLimitLease } from '../rate-limit-lease.js';
import { RateLimiter } from '../rate-limiter.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';
import type { LeaseOffer } from './lease-participants.js';
import type { ShareableLeaseOwner } from './shareable-lease-owner.js';

/** What a request needs of a linked limiter. */
export interface LinkedRequest<TResource> {
  readonly store: ShareableLeaseOwner<TResource>;
  readonly base: AsyncPartitionedRateLimiter<TResource>;
  readonly resource: TResource;
  readonly offer: LeaseOffer<TResource>;
}

/** A linked limiter together with one resource and the store that it belongs to, for a chain. */
export class LinkedLimiter<TResource> extends RateLimiter {
  readonly #request: LinkedRequest<TResource>;

  constructor(request: LinkedRequest<TResource>) {
    super();
    this.#request = request;
  }

  override get idleDurationMs(): null {
    return null;
  }

  override getStatistics(): RateLimiterStatistics | null {
    const { base, resource } = this.#request;
    return base.getStatistics(resource);
  }

  /** The reference limiter's partition, where it was looked up. */
  get [partitionsBehind](): readonly AsyncRateLimiter[] {
    const { partition } = this.#request.offer;
    return partition === null || partition instanceof RateLimitLease ? [] : partitionsAmong([partition]);
  }

  /** As they are now: the owner may have got its lease since, and the reference limiter's partition may have gone. */
  [chainParticipants](): readonly ChainParticipant[] | null {
    const participants = this.#request.offer.participants();
    return participants instanceof RateLimitLease ? null : participants;
  }

  protected override attemptAcquireCore(permitCount: number): RateLimitLease {
    const { store, base, resource } = this.#request;
    return store.acquireLease(base, resource, permitCount);
  }

  protected override async acquireCore(permitCount: number, signal?: AbortSignal): Promise<RateLimitLease> {
    const { store, base, resource } = this.#request;
    return store.acquireLeaseAsync(base, resource, permitCount, signal);
  }
}
