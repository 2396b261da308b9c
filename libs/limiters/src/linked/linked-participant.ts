import type { ChainParticipant, Reservation } from '../chained/chain-participant.js';
import { residentOf } from '../chained/chain-participant.js';
import type { Instant } from '../chained/instant.js';
import type { Clock } from '../clock.js';
import { REASON, RefusedLease } from '../engine/refused-lease.js';
import type { Waiter } from '../queue/waiter.js';
import type { RoomKeeper } from '../queue/waiting-room.js';
import type { RateLimitLease, RateLimitQuota } from '../rate-limit-lease.js';
import { LinkedReservation } from './linked-reservation.js';
import type { PendingFailure } from './shared-acquisition.js';
import type { StoreGroup } from './store-group.js';
import { StoreRoom } from './store-room.js';

/**
 * Stands for an owner in a chain, in front of a participant of the reference limiter. Its requests wait in a room
 * of their own; of the reference limiter's queue they take one place together, and when it is this place's turn
 * they take their turns one after the other, until one of them has taken the permit for all.
 */
export class LinkedParticipant implements ChainParticipant, RoomKeeper {
  /** One permit of the reference limiter carries any number. */
  readonly permitLimit = Infinity;
  readonly isNewestFirst = false;
  readonly group: StoreGroup;
  base: ChainParticipant;
  readonly #index: number;
  readonly #room: StoreRoom;

  constructor(group: StoreGroup, base: ChainParticipant, index: number) {
    this.group = group;
    this.base = base;
    this.#index = index;
    this.#room = new StoreRoom(this);
  }

  get name(): string {
    return this.group.shared.isDisposed ? this.group.shared.name : this.base.name;
  }

  /** Just behind the one it stands for, and before the next limiter. */
  get creationOrder(): number {
    const { creationOrder } = this.base;
    return (creationOrder + Math.floor(creationOrder) + 1) / 2;
  }

  get isDisposed(): boolean {
    const { shared } = this.group;
    return shared.isDisposed || (this.base.isDisposed && !shared.hasStored);
  }

  get takesFrom(): ChainParticipant {
    return this.base;
  }

  takesNow(_permits: number): number {
    return this.group.shared.hasStored ? 0 : 1;
  }

  noteRefusal(): void {
    this.group.shared.noteRefusal();
  }

  get clock(): Clock {
    return this.base.clock;
  }

  get isHeld(): boolean {
    return this.base.isHeld;
  }

  isSame(other: ChainParticipant): boolean {
    return (
      other instanceof LinkedParticipant &&
      other.group.shared === this.group.shared &&
      other.base.isSame(this.base)
    );
  }

  bringUpToDate(instant?: Instant): void {
    this.base.bringUpToDate(instant);
  }

  canGrant(_permits: number): boolean {
    return this.group.shared.hasStored || this.base.canGrant(1);
  }

  hasEnough(_permits: number): boolean {
    return this.group.shared.hasStored || (this.#room.isInTurn && this.base.hasEnough(1));
  }

  take(permits: number): RateLimitLease {
    return this.takeBy(permits, () => this.base.take(1));
  }

  /** The same with a taking of another kind from the reference limiter. */
  takeBy(permits: number, take: () => RateLimitLease): RateLimitLease {
    return this.group.take(this.#index, permits, take);
  }

  afterTaking(): void {
    this.base.afterTaking?.();
    this.group.shared.serve();
  }

  refuse(_permits: number): RateLimitLease {
    this.group.shared.noteRefusal();
    return this.base.refuse(1);
  }

  refusalToWait(_permits: number, maxWaitMs: number, isReserving: boolean): RateLimitLease | null {
    const refusal = this.#room.hasPlace
      ? this.#refusalToJoin(maxWaitMs)
      : this.base.refusalToWait(1, maxWaitMs, isReserving);
    if (refusal !== null) this.group.shared.noteRefusal();
    return refusal;
  }

  enter(waiter: Waiter): void {
    this.#room.enter(waiter);
  }

  reserve(permits: number): Reservation | null {
    if (this.group.shared.storedAsTold() !== undefined) return new LinkedReservation(this, permits, null);
    const base = this.base.reserve(1);
    return base === null ? null : new LinkedReservation(this, permits, base);
  }

  reserveInTurn(permits: number): Reservation {
    const isStored = this.group.shared.storedAsTold() !== undefined;
    return new LinkedReservation(this, permits, isStored ? null : this.base.reserveInTurn(1));
  }

  hold(waiter: Waiter): void {
    this.base.hold(waiter);
    this.base = residentOf(this.base);
    this.group.hold();
    this.group.shared.hold(waiter, this);
  }

  unhold(waiter: Waiter): void {
    this.group.shared.unhold(waiter);
    this.group.unhold();
    this.base.unhold(waiter);
  }

  quota(): RateLimitQuota {
    return this.base.quota();
  }

  retryAfterMs(_permits: number): number | undefined {
    return this.base.retryAfterMs(1);
  }

  /** Its requests have no timer of their own but that for their deadlines: their turn is the place's. */
  delayUntilMs(_permits: number): number {
    return NaN;
  }

  countRefusal(): void {
    this.#room.countRefusal();
  }

  /** A lease is stored: the place is given up, and everybody goes on. */
  onStored(): void {
    this.#room.onStored();
  }

  /** The acquisition that the requests in the room have joined has ended without a lease. */
  onPendingEnded(failure: PendingFailure): void {
    this.#room.onPendingEnded(failure);
  }

  /** Those who wait already take no more room with one more of them. */
  #refusalToJoin(maxWaitMs: number): RateLimitLease | null {
    return maxWaitMs > 0 ? null : new RefusedLease(REASON.waitLimitReached, this.base.retryAfterMs(1));
  }
}
