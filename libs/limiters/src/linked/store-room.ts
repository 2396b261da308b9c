import type { RateLimitLease } from '../rate-limit-lease.js';
import type { Waiter, WaitingPlace } from '../queue/waiter.js';
import { WaitingRoom } from '../queue/waiting-room.js';
import type { LinkedParticipant } from './linked-participant.js';
import type { PendingFailure } from './shared-acquisition.js';
import { StoreWaiter } from './store-waiter.js';

/**
 * Where the requests of one owner wait for its lease. While there are any, they have one place together in the
 * queue of the reference limiter, or they wait for an acquisition of the owner that is on its way anyhow.
 */
export class StoreRoom extends WaitingRoom {
  readonly #participant: LinkedParticipant;
  #place: StoreWaiter | null = null;
  #isInTurn = false;

  constructor(participant: LinkedParticipant) {
    super(participant);
    this.#participant = participant;
  }

  /** Whether it is the turn of the place in the reference limiter's queue. */
  get isInTurn(): boolean {
    return this.#isInTurn;
  }

  /** Whether a request that enters needs no room of its own in the reference limiter's queue. */
  get hasPlace(): boolean {
    return this.#place !== null || this.#participant.group.shared.isPending;
  }

  override enter(waiter: Waiter): void {
    super.enter(waiter);
    // It may have been served on its way in.
    if (this.queue.count > 0 && !this.#participant.group.shared.isPending)
      this.#takePlace(waiter.isReserving);
  }

  /** Somebody has left: with the last one goes the place. */
  override resume(): void {
    try {
      super.resume();
    } finally {
      if (this.queue.count === 0) this.#givePlaceUp()?.resume();
    }
  }

  override countRefusal(): void {
    this.#participant.group.shared.noteRefusal();
    this.#place?.place?.countRefusal();
  }

  /** It is the place's turn: it is the requests' one after the other. */
  takeTurn(): void {
    this.#isInTurn = true;
    try {
      this.serve();
    } finally {
      this.#isInTurn = false;
    }
    // Whoever still waits now waits for a permit that somebody else has taken meanwhile.
    if (this.queue.count === 0) this.#givePlaceUp();
  }

  /** The place was refused to go on: so are all who wait for it. */
  onRefused(lease: RateLimitLease): void {
    this.#place = null;
    this.#participant.group.shared.noteRefusal();
    this.#forEach((waiter) => waiter.refuse(lease));
  }

  onStored(): void {
    const place = this.#givePlaceUp();
    this.serve();
    place?.resume();
  }

  onPendingEnded(failure: PendingFailure): void {
    if (this.#place !== null || this.queue.count === 0) return;
    if (failure !== null && 'error' in failure) this.#forEach((waiter) => waiter.fail(failure.error));
    else if (failure !== null) this.#forEach((waiter) => waiter.refuse(failure.refusal));
    else this.#replacePending();
  }

  /** Those whom they had joined have given up: they have to wait for themselves. */
  #replacePending(): void {
    const isReserving = this.queue.hasReserving;
    try {
      const refusal = this.#participant.base.refusalToWait(1, Infinity, isReserving);
      if (refusal === null) this.#takePlace(isReserving);
      else this.onRefused(refusal);
    } catch (error) {
      // A clock may set no timer. Without a place nobody would ever have a turn.
      this.#givePlaceUp();
      this.#forEach((waiter) => waiter.fail(error));
    }
  }

  #takePlace(isReserving: boolean): void {
    if (this.#place !== null && (this.#place.isReserving || !isReserving)) return;
    this.#givePlaceUp();
    this.#place = new StoreWaiter(this, isReserving);
    this.#participant.base.enter(this.#place);
  }

  /** Returns the queue that it was in, where nobody has been looked at yet. */
  #givePlaceUp(): WaitingPlace | null {
    const place = this.#place;
    this.#place = null;
    return place === null ? null : place.giveUpPlace();
  }

  #forEach(visit: (waiter: Waiter) => void): void {
    for (const waiter of this.queue.inOrder()) {
      this.queue.delete(waiter);
      visit(waiter);
    }
    this.serve();
  }
}
