import type { ChainParticipant } from '../chained/chain-participant.js';
import { CombinedLease } from '../chained/combined-lease.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { LinkedReservation } from './linked-reservation.js';
import { LinkedParticipant } from './linked-participant.js';
import { PartLease } from './part-lease.js';
import type { PendingFailure } from './shared-acquisition.js';
import type { SharedLease } from './shared-lease.js';

/**
 * What stands for an owner without a lease in chains: a participant for each one of the reference limiter. What
 * a request takes of them all is put together to the lease that is stored.
 */
export class StoreGroup {
  readonly shared: SharedLease;
  readonly participants: readonly LinkedParticipant[];
  /** Permits that requests have reserved with the reference limiter. */
  readonly reservations = new Set<LinkedReservation>();
  #holds = 0;
  /** What the request that is taking right now has taken so far; `null` where it needs nothing. */
  #parts: PartLease[] | null = null;

  constructor(shared: SharedLease, bases: readonly ChainParticipant[]) {
    this.shared = shared;
    this.participants = bases.map((base, index) => new LinkedParticipant(this, base, index));
  }

  /** Whether it stands over these very participants. */
  isOver(bases: readonly ChainParticipant[]): boolean {
    return (
      bases.length === this.participants.length &&
      bases.every((base, index) => this.participants[index]!.base.isSame(base))
    );
  }

  hold(): void {
    if (this.#holds++ === 0) this.shared.groups.add(this);
  }

  unhold(): void {
    if (--this.#holds === 0) this.shared.groups.delete(this);
  }

  /**
   * The lease of a participant for one request. A chain takes from its participants in order and in one instant,
   * so the first one decides whether anything has to be taken at all, and the last one completes the whole.
   *
   * @param take - takes from the participant of the reference limiter.
   */
  take(index: number, permits: number, take: () => RateLimitLease): RateLimitLease {
    if (index === 0) {
      const stored = this.shared.storedAsTold();
      this.#parts = stored === undefined ? [] : null;
      if (stored !== undefined) return this.shared.derive(stored, permits);
    }
    const parts = this.#parts;
    if (parts === null) return new PartLease(null);
    const part = new PartLease(take());
    parts.push(part);
    if (this.#parts !== parts) {
      const stored = this.#overtaken(parts);
      if (stored !== undefined) return this.shared.derive(stored, permits);
    }
    if (parts.length < this.participants.length) return part;
    this.#parts = null;
    const leases = parts.map((each) => each.handOver());
    const granted = leases.length === 1 ? leases[0]! : new CombinedLease(leases);
    return this.shared.derive(this.shared.keep(granted), permits);
  }

  onStored(): void {
    for (const reservation of [...this.reservations]) reservation.undo();
    for (const participant of this.participants) participant.onStored();
  }

  onPendingEnded(failure: PendingFailure): void {
    for (const participant of this.participants) participant.onPendingEnded(failure);
  }

  /**
   * Before something reserved is taken, what has become due is served: another request of the owner may have had its
   * turn in between. Then its lease is the owner's, and what was taken so far is needless.
   *
   * @returns that lease; `undefined` where none came of it.
   */
  #overtaken(parts: PartLease[]): RateLimitLease | undefined {
    let isNeedless = true;
    try {
      const stored = this.shared.storedAsTold();
      isNeedless = stored !== undefined;
      return stored;
    } finally {
      this.#parts = isNeedless ? null : parts;
      if (isNeedless) for (const part of parts) part.dispose();
    }
  }
}
