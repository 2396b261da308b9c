import type { AsyncRateLimiter } from '../async-rate-limiter.js';
import type { Clock } from '../clock.js';
import type { WaitLimits } from '../partitioned/partitioned-rate-limiter.js';
import type { RateLimitLease } from '../rate-limit-lease.js';

/** A wait that ends early when it is disposed: what was asked for results in a refused lease, and is given up. */
export interface EndableWait {
  /** Ends it, where it has not ended yet. */
  dispose(): void;
}

/** How long a chain waits for limiters that decide elsewhere, and what it does then. */
export interface JointWait extends WaitLimits {
  /**
   * To be called each time a request begins to wait, once it has its place: the chain gives back then what it was granted
   * elsewhere, so that nobody waits for what one holds that waits.
   */
  readonly onWait?: (() => void) | undefined;
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
   * A text that is the same in all processes. A request that was passed over often keeps what it gets of several domains
   * and takes it in the order of these texts, so that no two wait for each other. `undefined` for what comes back by
   * itself, as a rate does: it is taken last.
   */
  readonly keepingOrder?: string | undefined;
  /**
   * Asks several limiters of the domain: all of them grant, or none is charged. Rejects for misuse, as `acquire`
   * does. The quota of the lease has an entry for each limiter, its `member` the index among those asked.
   *
   * @param waiting - what a wait is put into for as long as it lasts: the end of the chain ends all that are in it.
   */
  acquire(
    limiters: readonly AsyncRateLimiter[],
    permits: number,
    wait: JointWait,
    waiting?: Set<EndableWait>,
  ): Promise<JointOutcome>;
  /** Counts a lease that these limiters were granted together as if it had never been: the chain takes it back. */
  noteTakenBack?(limiters: readonly AsyncRateLimiter[]): void;
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

/** The key under which a lease says whether its permits were lost, so that others may have them already. */
export const isLeaseLost: unique symbol = Symbol.for('ratelease.is-lease-lost') as never;

/** Whether a lease says that its permits were lost. */
export function isLost(lease: RateLimitLease): boolean {
  return (lease as { [isLeaseLost]?: boolean })[isLeaseLost] === true;
}

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

/** Takes back what a decider has granted. */
export function takeBackBy(
  decider: JointDecider,
  limiters: readonly AsyncRateLimiter[],
  lease: RateLimitLease,
): void {
  decider.noteTakenBack?.(limiters);
  takeBack(lease);
}
