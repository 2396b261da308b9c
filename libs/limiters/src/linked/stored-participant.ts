import type { ChainParticipant, Reservation } from '../chained/chain-participant.js';
import type { Clock } from '../clock.js';
import { systemClock } from '../clock.js';
import { REASON, RefusedLease } from '../engine/refused-lease.js';
import type { Waiter } from '../queue/waiter.js';
import type { RateLimitLease, RateLimitQuota } from '../rate-limit-lease.js';
import type { SharedLease } from './shared-lease.js';

const UNLIMITED: RateLimitQuota = {
  limit: Infinity,
  remaining: Infinity,
  resetAfterMs: undefined,
  windowMs: undefined,
  member: 0,
};

/** Stands for an owner with a lease in a chain: it grants as long as the owner lives, and asks nobody. */
export class StoredParticipant implements ChainParticipant {
  readonly permitLimit = Infinity;
  /** It is never waited for. */
  readonly creationOrder = 0;
  readonly clock: Clock = systemClock;
  readonly isHeld = false;
  readonly #shared: SharedLease;
  readonly #lease: RateLimitLease;

  constructor(shared: SharedLease, lease: RateLimitLease) {
    this.#shared = shared;
    this.#lease = lease;
  }

  get name(): string {
    return this.#shared.name;
  }

  get isDisposed(): boolean {
    return this.#shared.isDisposed;
  }

  isSame(other: ChainParticipant): boolean {
    return other instanceof StoredParticipant && other.#lease === this.#lease;
  }

  bringUpToDate(): void {
    // Nothing is ever due.
  }

  canGrant(): boolean {
    return !this.isDisposed;
  }

  hasEnough(): boolean {
    return !this.isDisposed;
  }

  take(permits: number): RateLimitLease {
    return this.#shared.derive(this.#lease, permits);
  }

  /** Present because a subclass makes the derived leases, which may fail. */
  afterTaking(): void {
    // Nobody waits for what was there already.
  }

  refuse(): RateLimitLease {
    return new RefusedLease(REASON.ownerDisposed);
  }

  refusalToWait(): RateLimitLease {
    return this.refuse();
  }

  enter(): void {
    // Nobody has to wait here.
  }

  reserve(permits: number): Reservation {
    return this.reserveInTurn(permits);
  }

  reserveInTurn(permits: number): Reservation {
    return { grant: () => this.take(permits), undo: () => undefined };
  }

  hold(waiter: Waiter): void {
    this.#shared.hold(waiter, this);
  }

  unhold(waiter: Waiter): void {
    this.#shared.unhold(waiter);
  }

  quota(): RateLimitQuota {
    return this.#lease.quota()[0] ?? UNLIMITED;
  }

  retryAfterMs(): undefined {
    return undefined;
  }
}
