import { REASON, RefusedLease } from '../engine/refused-lease.js';
import { deadlineAfter, readMilliseconds } from '../engine/time-unit.js';
import { errorsOfEach, throwCollected } from '../errors.js';
import { Waiter } from '../queue/waiter.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { ChainLink } from './chain-link.js';
import type { Reservation } from './chain-participant.js';
import { refuseByLink } from './chain-refusal.js';
import { combine, finishTaking, takeEach, takeFromAll } from './combined-lease.js';
import type { EndableWait } from './joint-decision.js';

/** So often a request is passed over at its turn before it goes on by reserving. */
export const TURNS_BEFORE_RESERVING = 4;

/** The chain that a request waits for, which ends its waiters with itself. */
export interface ChainOwner {
  readonly waiting: Set<ChainRequest>;
  /** What waits for it in limiters that decide elsewhere. */
  readonly waitingElsewhere: Set<EndableWait>;
  /** Whether it or a chain within it has ended. */
  readonly hasEnded: boolean;
}

/** Ends all waiters of a chain that has ended; only then those behind them are looked at. */
export function withdrawAll(owner: ChainOwner): void {
  const requests = [...owner.waiting];
  for (const request of requests) request.withdraw(new RefusedLease(REASON.limiterDisposed));
  for (const wait of owner.waitingElsewhere) wait.dispose();
  resumeAll(requests);
}

/** Looks at those behind waiters that have ended, whatever one of them throws. */
function resumeAll(waiters: Iterable<Waiter>): void {
  const errors = errorsOfEach(waiters, (waiter) => waiter.resume());
  throwCollected(errors, 'Several waiters failed to give back what was reserved for them.');
}

/**
 * A request that waits for several limiters. It stands in the queue of one of them and holds nothing; at its
 * turn it takes from all in one instant, or moves on to the queue of the first that refuses.
 *
 * A request that was passed over {@link TURNS_BEFORE_RESERVING} times keeps what it gets: it takes from the
 * limiters one by one in the order of their creation and waits for the next before everybody else. As all do so
 * in the same order, no two of them wait for each other.
 */
export class ChainRequest extends Waiter {
  protected readonly links: readonly ChainLink[];
  protected readonly asked: number;
  readonly #owner: ChainOwner;
  #at: ChainLink;
  #passedOver = 0;
  /** Set once it reserves: the links in the order of creation. */
  #order: readonly ChainLink[] | null = null;
  readonly #reserved: Reservation[] = [];

  constructor(
    links: readonly ChainLink[],
    permits: number,
    owner: ChainOwner,
    signal: AbortSignal | undefined,
  ) {
    super(permits, signal);
    this.links = links;
    this.asked = permits;
    this.#owner = owner;
    this.#at = links[0]!;
    owner.waiting.add(this);
    for (const link of links) link.hold(this);
  }

  override get isReserving(): boolean {
    return this.#order !== null;
  }

  /** Begins to wait in the queue of a link that has agreed to it. */
  begin(link: ChainLink, maxWaitMs: number): void {
    try {
      this.#enter(link, maxWaitMs);
    } catch (error) {
      // Whatever it is, nobody must wait on: no chain would know of it.
      this.fail(error);
    }
  }

  override takeTurn(): void {
    try {
      this.#takeTurn();
    } catch (error) {
      // A participant of another maker, or a store: whoever freed the permits has nothing to do with it.
      this.fail(error);
    }
  }

  override refuse(lease: RateLimitLease): void {
    this.#at.noteRefusal();
    this.#refuse(lease);
  }

  override withdraw(lease: RateLimitLease, cause?: object): void {
    const link = this.links.find(({ participant }) => participant === cause);
    super.withdraw(link === undefined ? lease : refuseByLink(lease, link, this.links, this.asked));
  }

  override onNeedsLess(): void {
    const { shared } = this.#at;
    const { queue, place } = this;
    if (shared === null || queue === null) return;
    if (shared.needsNothing(this.asked)) this.takeTurn();
    else queue.lower(this, shared.demand(this.asked));
    place?.resume();
  }

  /** Takes at once what is there in all of them, as a request does that reserves. */
  beginAtOnce(maxWaitMs: number): void {
    try {
      this.#beginToReserve(maxWaitMs);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Whether it needs nothing more than to have everything reserved. */
  protected get onlyReserves(): boolean {
    return false;
  }

  /** The lease for what is reserved, in that order. */
  protected leaseFor(order: readonly ChainLink[], reserved: readonly Reservation[]): RateLimitLease {
    return combine(
      this.links,
      takeEach(this.links, (link) => reserved[order.indexOf(link)]!.grant()),
    );
  }

  /** Ends the wait with such a lease. */
  protected grant(lease: RateLimitLease): void {
    try {
      // Taking may have run code of the user's that has ended the chain.
      if (!this.settle(lease)) lease.dispose();
    } finally {
      finishTaking(this.links);
    }
  }

  protected override ended(): void {
    this.#owner.waiting.delete(this);
    this.unhold();
  }

  /** They may be thrown away as idle, as far as this request goes. */
  protected unhold(): void {
    for (const { participant } of this.links) participant.unhold(this);
  }

  protected override giveUp(): void {
    const reserved = this.#reserved.splice(0).reverse();
    const errors = errorsOfEach(reserved, (reservation) => reservation.undo());
    throwCollected(errors, 'Several members of a chain failed to take back what was reserved.');
  }

  #takeTurn(): void {
    for (const link of this.links) if (!link.isOneWith(this.#at)) link.participant.bringUpToDate();
    // The waiters of the others may have changed what stands here.
    if (this.queue?.inTurn !== this && this.#at.shared?.needsNothing(this.asked) !== true) return;
    if (!this.#at.hasEnough(this.asked) || this.isOver) return;
    if (this.isReserving) return this.#reserveInTurn();
    this.#tryAll();
  }

  #tryAll(): void {
    const maxWaitMs = this.#leaveInTurn();
    const obstacle = this.obstacle();
    if (obstacle !== null) return this.#refuse(new RefusedLease(obstacle));
    const refusing = this.links.find((link) => !link.isOneWith(this.#at) && !link.canGrant(this.asked));
    if (this.isOver) return;
    if (refusing === undefined) {
      if (this.onlyReserves) return this.#beginToReserve(maxWaitMs);
      return this.grant(takeFromAll(this.links, this.asked));
    }
    this.#passedOver++;
    if (this.#passedOver < TURNS_BEFORE_RESERVING) return this.#moveTo(refusing, maxWaitMs);
    this.#beginToReserve(maxWaitMs);
  }

  #beginToReserve(maxWaitMs: number): void {
    this.#order = [...this.links].sort((a, b) => a.creationOrder - b.creationOrder);
    this.#reserve(maxWaitMs);
  }

  #reserveInTurn(): void {
    const maxWaitMs = this.#leaveInTurn();
    this.#reserved.push(...this.#at.reserveInTurn(this.asked));
    this.#reserve(maxWaitMs);
  }

  /** Goes on taking until one hasn't enough, and waits there. */
  #reserve(maxWaitMs: number): void {
    const order = this.#order!;
    while (this.#reserved.length < order.length) {
      // Whoever ended it while a member was asked has given back all but what that one has set aside then.
      if (this.isOver) return this.giveUp();
      const link = order[this.#reserved.length]!;
      const reservations = this.obstacle() === null ? link.reserve(this.asked) : null;
      if (reservations === null) return this.#moveTo(link, maxWaitMs);
      this.#reserved.push(...reservations);
    }
    // What a member has set aside is not held yet: its end, and a lower limit, come before it.
    const obstacle = this.obstacle();
    if (this.isOver) return this.giveUp();
    if (obstacle !== null) return this.#refuse(new RefusedLease(obstacle));
    this.grant(this.#leaseFor(order));
  }

  #leaseFor(order: readonly ChainLink[]): RateLimitLease {
    // From here on all are taken, also where it is aborted in the midst of it: then they end with their leases.
    const reserved = this.#reserved.splice(0);
    try {
      return this.leaseFor(order, reserved);
    } catch (error) {
      this.#reserved.push(...reserved);
      throw error;
    }
  }

  #refuse(lease: RateLimitLease): void {
    super.refuse(refuseByLink(lease, this.#at, this.links, this.asked));
  }

  /** Why it can never be granted any more. */
  protected obstacle(): string | null {
    if (this.#owner.hasEnded || this.links.some(({ participant }) => participant.isDisposed)) {
      return REASON.limiterDisposed;
    }
    return this.links.some((link) => link.isBelow(this.asked)) ? REASON.limitLowered : null;
  }

  #moveTo(link: ChainLink, maxWaitMs: number): void {
    this.#at = link;
    const obstacle = this.obstacle();
    if (obstacle !== null) return this.#refuse(new RefusedLease(obstacle));
    const refusal = link.refusalToWait(this.asked, maxWaitMs, this.isReserving);
    if (this.isOver) return;
    if (refusal === null) this.#enter(link, maxWaitMs);
    else this.refuse(refusal);
  }

  #enter(link: ChainLink, maxWaitMs: number): void {
    this.#at = link;
    this.permits = link.waitingPermits(this.asked);
    // Each limiter may have a clock of its own: what goes along is the time that is left.
    this.waitUntil(deadlineAfter(link.place.clock, maxWaitMs));
    link.place.enter(this);
    // Aborted on its way in.
    if (this.isOver) this.leave()?.resume();
  }

  /** Leaves the queue; the service that called goes on with those behind. Returns the time that is left. */
  #leaveInTurn(): number {
    this.leave();
    if (this.deadlineMs === Infinity) return Infinity;
    return this.deadlineMs - readMilliseconds(this.#at.place.clock);
  }
}
