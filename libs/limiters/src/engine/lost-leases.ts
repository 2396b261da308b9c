import { errorsOfEach, throwCollected } from '../errors.js';
import type { PermitKeeper } from './granted-lease.js';

/** A granted lease that was garbage-collected without having been disposed. */
export interface LostLease {
  /** The class of its limiter. */
  readonly limiter: string;
  /** The permits that it held. They have been given back, as late as the garbage collector found out. */
  readonly permits: number;
  /** Where it was granted: for a request that had to wait, by whose return. */
  readonly acquiredAt: string;
}

interface HeldPermits extends LostLease {
  readonly keeper: PermitKeeper;
  readonly epoch: number;
}

/** Told of a lost lease. */
export type LostLeaseListener = (lost: LostLease) => void;

const listeners = new Set<LostLeaseListener>();
/** Whether a lease has ever been watched: until then none has to be taken from the registry. */
let isRegistryUsed = false;

const registry = new FinalizationRegistry<HeldPermits>(({ keeper, epoch, ...lost }) => {
  // What fails, a clock at the return or a listener, keeps nobody else from being told.
  const errors = errorsOfEach([keeper], (limiter) => limiter.release(lost.permits, epoch));
  errors.push(...errorsOfEach(listeners, (listener) => listener(lost)));
  throwCollected(errors, 'Several things failed as a lost lease was given back and told of.');
});

/** Whether anybody wants to know; the only cost while nobody does. */
export function areLostLeasesWatched(): boolean {
  return listeners.size > 0;
}

/** Watches a lease until it is disposed. */
export function watchLease(lease: object, keeper: PermitKeeper, permits: number): void {
  const { name: limiter, epoch } = keeper;
  const acquiredAt = new Error('acquired here').stack ?? '';
  isRegistryUsed = true;
  registry.register(lease, { keeper, epoch, limiter, permits, acquiredAt }, lease);
}

/** The lease, watched or not, was disposed as it should be. */
export function unwatchLease(lease: object): void {
  if (isRegistryUsed) registry.unregister(lease);
}

/**
 * Reports every lease of a concurrency limiter that is lost: granted from now on, never disposed, and garbage-
 * collected. Its permits are given back then, but nobody knows when that is, or whether it ever comes: this finds
 * mistakes, it doesn't mend them. Each grant records a stack trace while anybody listens; meant for development.
 *
 * @param listener - called for each, some time after it was lost.
 * @returns ends the reports to this listener.
 */
export function reportLostLeases(listener: LostLeaseListener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
