import type { AsyncPartitionedRateLimiter } from '../async-rate-limiter.js';
import type { ChainParticipant } from '../chained/chain-participant.js';
import type { RateLimitLease } from '../rate-limit-lease.js';

/**
 * The key under which an owner of leases offers what stands for it in a chain: a method that is called with the
 * reference limiter and the resource. It returns participants in order, the lease with which the reference
 * limiter refuses to have one more partition, or `null` where the owner can't take part.
 */
export const leaseParticipants: unique symbol = Symbol.for('ratelease.lease-participants') as never;

type Offer<TResource> = (
  baseLimiter: AsyncPartitionedRateLimiter<TResource>,
  resource: TResource,
) => readonly ChainParticipant[] | RateLimitLease | null;

/** What an owner offers, `null` where it knows nothing of chains. */
export function participantsOfOwner<TResource>(
  owner: object,
  baseLimiter: AsyncPartitionedRateLimiter<TResource>,
  resource: TResource,
): readonly ChainParticipant[] | RateLimitLease | null {
  const offer = (owner as Record<symbol, unknown>)[leaseParticipants];
  return typeof offer === 'function' ? (offer as Offer<TResource>).call(owner, baseLimiter, resource) : null;
}
