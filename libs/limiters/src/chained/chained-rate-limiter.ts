import type { AcquireOptions } from '../async-rate-limiter.js';
import { decidesLike, waitsOtherwise } from '../engine/participants.js';
import { errorsOfEach, ObjectDisposedError, show, throwCollected, typeError } from '../errors.js';
import { acquireWithTimeout } from '../queue/wait-limit.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import { isRateLimiter, RateLimiter } from '../rate-limiter.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';
import { replenishingBrand, ReplenishingRateLimiter } from '../replenishing-rate-limiter.js';
import { acquireChain, attemptChain } from './chain-decision.js';
import type { Endable } from './chain-end.js';
import { endablesAmong, hasEnded, hasOneEnded } from './chain-end.js';
import type { ChainLink } from './chain-link.js';
import { assertAlive, assertWithinLimits, linksOf } from './chain-link.js';
import type { ChainParticipant } from './chain-participant.js';
import { chainParticipants, participantsOf } from './chain-participant.js';
import type { ChainRequest } from './chain-request.js';
import { withdrawAll } from './chain-request.js';
import { combineStatistics } from './chain-statistics.js';
import type { EndableWait } from './joint-decision.js';
import { acquireInOrder, attemptInOrder, untilItEnds } from './sequential-chain.js';

const NAME = 'ChainedRateLimiter';

/** Several limiters that grant together or not at all; see {@link createChainedRateLimiter}. */
export class ChainedRateLimiter extends RateLimiter {
  /** @internal */
  readonly waiting = new Set<ChainRequest>();
  /** @internal */
  readonly waitingElsewhere = new Set<EndableWait>();
  readonly #limiters: readonly RateLimiter[];
  readonly #replenishing: readonly RateLimiter[];
  readonly #links: readonly ChainLink[] | null;
  readonly #endables: readonly Endable[];
  #isDisposed = false;

  /** @throws TypeError `ERR_RL_INVALID_ARGUMENT` - without members, or with one that isn't a limiter. */
  constructor(limiters: readonly RateLimiter[]) {
    super();
    this.#limiters = requireMembers(limiters, isRateLimiter, 'RateLimiter');
    this.#replenishing = this.#limiters.filter((limiter) => limiter instanceof ReplenishingRateLimiter);
    this.#links = linksOf(this.#limiters);
    this.#endables = endablesAmong(this.#limiters);
  }

  /** Whether it counts as a {@link ReplenishingRateLimiter}: if a member does. */
  get [replenishingBrand](): boolean {
    return this.#replenishing.length > 0;
  }

  /** @internal */
  get hasEnded(): boolean {
    return this.#isDisposed || hasOneEnded(this.#endables);
  }

  /** @internal The same for chains around this one. */
  get [hasEnded](): boolean {
    return this.hasEnded;
  }

  override get isAutoReplenishing(): boolean {
    return this.#replenishing.every((limiter) => limiter.isAutoReplenishing);
  }

  override get replenishmentPeriodMs(): number {
    const periods = this.#replenishing.map((limiter) => limiter.replenishmentPeriodMs);
    return Math.min(Infinity, ...periods.filter((period) => period > 0));
  }

  override get idleDurationMs(): number | null {
    let shortest = Infinity;
    for (const limiter of this.#limiters) {
      const idle = limiter.idleDurationMs;
      if (idle === null) return null;
      shortest = Math.min(shortest, idle);
    }
    return shortest;
  }

  override tryReplenish(): boolean {
    if (this.#isDisposed) return false;
    let applied = false;
    const errors = errorsOfEach(this.#limiters, (limiter) => {
      applied = limiter.tryReplenish() || applied;
    });
    throwCollected(errors, 'Several members of a chain failed to replenish.');
    return applied;
  }

  override getStatistics(): RateLimiterStatistics {
    return combineStatistics(this.#limiters.map((limiter) => limiter.getStatistics()));
  }

  /** Ends the chain and its waiters; its members live on, and so do the leases it has granted. */
  override dispose(): void {
    this.#isDisposed = true;
    withdrawAll(this);
  }

  /** The participants of all members; see {@link ChainParticipant}. */
  [chainParticipants](): readonly ChainParticipant[] | null {
    if (this.#links === null || this.#isDisposed || !decidesLike(this, ChainedRateLimiter.prototype))
      return null;
    return this.#limiters.flatMap((limiter) => participantsOf(limiter) ?? []);
  }

  protected override assertAcquirable(permitCount: number): void {
    if (this.#links !== null) assertWithinLimits(this.#links, permitCount);
    if (this.hasEnded) throw new ObjectDisposedError(NAME);
    if (this.#links !== null) assertAlive(this.#links);
  }

  protected override attemptAcquireCore(permitCount: number): RateLimitLease {
    if (this.#links !== null) return attemptChain(this.#links, permitCount);
    return attemptInOrder(this.#limiters.map((limiter) => () => limiter.attemptAcquire(permitCount)));
  }

  protected override acquireCore(permitCount: number, signal?: AbortSignal): Promise<RateLimitLease> {
    if (this.#links !== null)
      return acquireChain(this.#links, permitCount, this, { signal, maxWaitMs: Infinity });
    return this.#acquireInOrder(permitCount, { signal });
  }

  protected override acquireWithin(
    permitCount: number,
    maxWaitMs: number,
    signal?: AbortSignal,
  ): Promise<RateLimitLease> {
    if (waitsOtherwise(this, ChainedRateLimiter.prototype))
      return super.acquireWithin(permitCount, maxWaitMs, signal);
    if (this.#links !== null) return acquireChain(this.#links, permitCount, this, { signal, maxWaitMs });
    // None of them may wait for longer, but neither may all together.
    return acquireWithTimeout(
      (own) => this.#acquireInOrder(permitCount, { signal: own, maxWaitMs }),
      maxWaitMs,
      signal,
    );
  }

  #acquireInOrder(permitCount: number, { signal, maxWaitMs }: AcquireOptions): Promise<RateLimitLease> {
    return untilItEnds(this, signal, (own) =>
      acquireInOrder(
        this.#limiters.map((limiter) => () => limiter.acquire(permitCount, { signal: own, maxWaitMs })),
      ),
    );
  }
}

/**
 * Copies and checks the members of a chain.
 * @throws TypeError `ERR_RL_INVALID_ARGUMENT` - without members, with something else than an array of them, or with one of another kind.
 */
export function requireMembers<T>(
  members: readonly T[],
  isMember: (value: unknown) => boolean,
  kind: string,
): readonly T[] {
  // An alias, or the check would make the members `any`.
  const given: unknown = members;
  if (!Array.isArray(given))
    throw typeError(
      'ERR_RL_INVALID_ARGUMENT',
      `A chain needs an array of ${kind}s, but got ${show(members)}.`,
    );
  if (members.length === 0)
    throw typeError('ERR_RL_INVALID_ARGUMENT', `A chain needs at least one ${kind}, but got none.`);
  for (const [index, member] of members.entries()) {
    if (isMember(member)) continue;
    throw typeError(
      'ERR_RL_INVALID_ARGUMENT',
      `Member ${index} of a chain must be a ${kind}, but got ${show(member)}.`,
    );
  }
  return [...members];
}

/**
 * Makes one limiter of several: a request is granted by all of them in one instant, or charged to none. While
 * it waits it holds nothing anywhere, and it can't be passed over for ever. The first member in order that
 * would refuse a request refuses it, and only that one counts the refusal.
 *
 * With a member that doesn't take part in the protocol of {@link ChainParticipant} the chain asks the members
 * one after the other instead, holding what the earlier ones granted.
 *
 * @param limiters - at least one; chains among them count as their members.
 * @throws TypeError `ERR_RL_INVALID_ARGUMENT` - without members, or with one that isn't a limiter.
 */
export function createChainedRateLimiter(...limiters: RateLimiter[]): ChainedRateLimiter {
  return new ChainedRateLimiter(limiters);
}
