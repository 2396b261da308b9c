import type { AsyncRateLimiter } from '../async-rate-limiter.js';
import type { Clock } from '../clock.js';
import type { WaitLimits } from '../partitioned/partitioned-rate-limiter.js';
import type { RateLimitLease } from '../rate-limit-lease.js';

/** A wait that ends early when it is disposed: what was asked for results in a refused lease, and is given up. */
export interface EndableWait {
  /** Ends it, where it has not ended yet. */
  dispose(): void;
}

/**
 * What a limiter offers that decides elsewhere, so that a chain asks those that decide in the same place once, not
 * one after the other.
 */
export interface JointDecider {
  /** Limiters whose domains are the same value (as keys of a `Map` are) can be asked together. */
  readonly domain: unknown;
  /** Names the permits that are taken from: two limiters that take from the same ones are not asked together. */
  readonly identity: unknown;
  /** By which requests wait for it; by default it is the system's. */
  readonly clock?: Clock | undefined;
  /**
   * Asks several limiters of the domain: all of them grant, or none is charged. Rejects for misuse, as `acquire`
   * does. The quota of the lease has an entry for each limiter, its `member` the index among those asked.
   *
   * @param waiting - what a wait is put into for as long as it lasts: the end of the chain ends all that are in it.
   */
  acquire(
    limiters: readonly AsyncRateLimiter[],
    permits: number,
    wait: WaitLimits,
    waiting?: Set<EndableWait>,
  ): Promise<JointOutcome>;
}

/** What limiters that were asked together answer. */
export interface JointOutcome {
  /** What was decided, for all members together. */
  readonly lease: RateLimitLease;
  /** The index of the first limiter that refused; -1 for none. */
  readonly refusedBy: number;
  /** Whole milliseconds until all that refuse would grant; `undefined` where unknown. */
  readonly retryAfterOfAllMs: number | undefined;
}

/** The key under which a limiter offers its {@link JointDecider}. */
export const jointDecision: unique symbol = Symbol.for('ratelease.joint-decision') as never;

/**
 * The key under which a lease offers a method that takes it back as if it had never been granted, the permits of a
 * rate too. A chain calls it instead of `dispose()` when a member that was asked later refuses.
 */
export const undoLease: unique symbol = Symbol.for('ratelease.undo-lease') as never;

/** What a limiter offers under {@link jointDecision}. */
export function jointDeciderOf(limiter: object): JointDecider | undefined {
  return (limiter as { [jointDecision]?: JointDecider })[jointDecision];
}

/** Takes a lease back as far as it goes: as if it had never been granted, or by its disposal. */
export function takeBack(lease: RateLimitLease): void {
  const undo = (lease as { [undoLease]?: () => void })[undoLease];
  if (typeof undo === 'function') undo.call(lease);
  else lease.dispose();
}
