import type { RateLimitLease } from '../rate-limit-lease.js';
import type { WaitingPlace } from '../queue/waiter.js';
import { Waiter } from '../queue/waiter.js';
import type { StoreRoom } from './store-room.js';

/** The place that all requests of an owner have together in the queue of the reference limiter. */
export class StoreWaiter extends Waiter {
  readonly #room: StoreRoom;
  readonly #isReserving: boolean;

  constructor(room: StoreRoom, isReserving: boolean) {
    super(1, undefined);
    this.#room = room;
    this.#isReserving = isReserving;
  }

  override get isReserving(): boolean {
    return this.#isReserving;
  }

  override takeTurn(): void {
    this.#room.takeTurn();
  }

  override refuse(lease: RateLimitLease): void {
    super.refuse(lease);
    this.#room.onRefused(lease);
  }

  /** Leaves the queue. Returns it, for who is next there to be looked at. */
  giveUpPlace(): WaitingPlace | null {
    return this.leave();
  }
}
