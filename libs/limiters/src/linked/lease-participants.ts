import type { AsyncPartitionedRateLimiter, AsyncRateLimiter } from '../async-rate-limiter.js';
import type { ChainParticipant } from '../chained/chain-participant.js';
import { partitionLimiterOf } from '../partitioned/bound-limiter.js';
import type { RateLimitLease } from '../rate-limit-lease.js';

/**
 * The key under which an owner of leases offers what stands for it in a chain: a method that is called with the
 * reference limiter, the resource, and a function that says which limiter of the reference limiter's partitions that is
 * (it runs the partitioner once, however often it is called). The method returns participants in order, the lease with
 * which the reference limiter refuses to have one more partition, or `null` where the owner can't take part. A chain asks
 * it when it resolves the resource, and again when it decides: partitioners of other members run in between.
 */
export const leaseParticipants: unique symbol = Symbol.for('ratelease.lease-participants') as never;

type Offer<TResource> = (
  baseLimiter: AsyncPartitionedRateLimiter<TResource>,
  resource: TResource,
  resolve: () => AsyncRateLimiter | RateLimitLease,
) => readonly ChainParticipant[] | RateLimitLease | null;

/** Asks an owner for what it offers to one request. */
export class LeaseOffer<TResource> {
  readonly #owner: object;
  readonly #base: AsyncPartitionedRateLimiter<TResource>;
  readonly #resource: TResource;
  #partition: AsyncRateLimiter | RateLimitLease | null = null;
  readonly #resolve = (): AsyncRateLimiter | RateLimitLease =>
    (this.#partition ??= partitionLimiterOf(this.#base, this.#resource));

  constructor(owner: object, base: AsyncPartitionedRateLimiter<TResource>, resource: TResource) {
    this.#owner = owner;
    this.#base = base;
    this.#resource = resource;
  }

  /** The limiter of the reference limiter's partition, once it was asked for. */
  get partition(): AsyncRateLimiter | RateLimitLease | null {
    return this.#partition;
  }

  /** What the owner offers as things are; `null` where it knows nothing of chains. */
  participants(): readonly ChainParticipant[] | RateLimitLease | null {
    const offer = (this.#owner as Record<symbol, unknown>)[leaseParticipants];
    if (typeof offer !== 'function') return null;
    return (offer as Offer<TResource>).call(this.#owner, this.#base, this.#resource, this.#resolve);
  }
}
