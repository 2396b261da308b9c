export type { AcquireOptions, AsyncPartitionedRateLimiter, AsyncRateLimiter } from './async-rate-limiter.js';
export type { Clock, ClockTimer, TimerOptions } from './clock.js';
export { systemClock } from './clock.js';
export type { RateLimitError, RateLimitErrorCode } from './errors.js';
export { isRateLimitError, ObjectDisposedError } from './errors.js';
export { MetadataName } from './metadata-name.js';
export { otherCopies } from './other-copies.js';
export type { LeaseJson, RateLimitQuota } from './rate-limit-lease.js';
export { RateLimitLease } from './rate-limit-lease.js';
export { isRateLimiter, RateLimiter } from './rate-limiter.js';
export type { RateLimiterStatistics } from './rate-limiter-statistics.js';
export { replenishingBrand, ReplenishingRateLimiter } from './replenishing-rate-limiter.js';

export type { LostLease, LostLeaseListener } from './engine/lost-leases.js';
export { reportLostLeases } from './engine/lost-leases.js';
export type { LimiterOptions, ReplenishingLimiterOptions } from './engine/limiter-options.js';
export { TimedRateLimiter } from './engine/timed-rate-limiter.js';
export type { QueueProcessingOrder } from './queue/wait-queue.js';
export type { Abortable, AbortSubscription } from './queue/abort-subscription.js';
export { subscribeToAbort } from './queue/abort-subscription.js';
export type { Waiter, WaitingPlace } from './queue/waiter.js';
export type { ConcurrencyLimiterOptions } from './concurrency/concurrency-limiter.js';
export { ConcurrencyLimiter } from './concurrency/concurrency-limiter.js';
export type { FixedWindowRateLimiterOptions } from './fixed-window/fixed-window-rate-limiter.js';
export { FixedWindowRateLimiter } from './fixed-window/fixed-window-rate-limiter.js';
export type { SlidingWindowRateLimiterOptions } from './sliding-window/sliding-window-rate-limiter.js';
export { SlidingWindowRateLimiter } from './sliding-window/sliding-window-rate-limiter.js';
export type { TokenBucketRateLimiterOptions } from './token-bucket/token-bucket-rate-limiter.js';
export { TokenBucketRateLimiter } from './token-bucket/token-bucket-rate-limiter.js';

export type { ChainParticipant, Reservation } from './chained/chain-participant.js';
export type { Instant } from './chained/instant.js';
export { chainParticipants, partitionOf } from './chained/chain-participant.js';
export type { EndableWait, JointDecider, JointOutcome, JointWait } from './chained/joint-decision.js';
export { isLeaseLost, jointDecision, undoLease } from './chained/joint-decision.js';
export { refusedMember, retryAfterOfAll } from './chained/chain-refusal.js';
export {
  ChainedPartitionedRateLimiter,
  createChainedPartitionedRateLimiter,
} from './chained/chained-partitioned-rate-limiter.js';
export { ChainedRateLimiter, createChainedRateLimiter } from './chained/chained-rate-limiter.js';

export type {
  Partitioner,
  PartitionedRateLimiterOptions,
} from './partitioned/default-partitioned-rate-limiter.js';
export {
  createPartitionedRateLimiter,
  DefaultPartitionedRateLimiter,
} from './partitioned/default-partitioned-rate-limiter.js';
export type { AcquiresOrWaits } from './partitioned/acquire-or-wait.js';
export { acquireOrWait } from './partitioned/acquire-or-wait.js';
export { ImmediatePartitionedRateLimiter } from './partitioned/immediate-partitioned-rate-limiter.js';
export type { PartitionErrorHandler } from './partitioned/table/table-options.js';
export type { TranslationOptions, WaitLimits } from './partitioned/partitioned-rate-limiter.js';
export {
  isPartitionedRateLimiter,
  PartitionedRateLimiter,
  TranslatingRateLimiter,
} from './partitioned/partitioned-rate-limiter.js';
export { foreseeableIdle } from './partitioned/foreseeable-idle.js';
export type { PartitionContext } from './partitioned/rate-limit-partition.js';
export { RateLimitPartition } from './partitioned/rate-limit-partition.js';

export { DerivedLease } from './linked/derived-lease.js';
export { leaseParticipants } from './linked/lease-participants.js';
export type { StoredLease } from './linked/lease-storage.js';
export type { LinkedLeaseRateLimiterOptions } from './linked/linked-lease-rate-limiter.js';
export { LinkedLeaseRateLimiter } from './linked/linked-lease-rate-limiter.js';
export type { LeaseReleaser, ShareableLeaseOwner } from './linked/shareable-lease-owner.js';
export { SingleShareableLeaseOwner } from './linked/single-shareable-lease-owner.js';

export { ManagedLifetimeLimiter } from './managed-lifetime/managed-lifetime-limiter.js';
export type {
  LifetimeRegistrar,
  ManagedLifetimeFactory,
} from './managed-lifetime/managed-lifetime-partition.js';
export { getManagedLifetimeLimiter } from './managed-lifetime/managed-lifetime-partition.js';
