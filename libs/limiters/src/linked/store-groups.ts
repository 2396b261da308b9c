import type { ChainParticipant } from '../chained/chain-participant.js';
import type { PendingFailure } from './shared-acquisition.js';
import type { SharedLease } from './shared-lease.js';
import { StoreGroup } from './store-group.js';

/** What stands for an owner in chains, as long as requests of chains wait. Nearly always there is none, or one. */
export class StoreGroups {
  readonly #held = new Set<StoreGroup>();

  /** The group over these participants: the one that requests wait in, or a new one. */
  groupFor(shared: SharedLease, bases: readonly ChainParticipant[]): StoreGroup {
    for (const group of this.#held) if (group.isOver(bases)) return group;
    return new StoreGroup(shared, bases);
  }

  add(group: StoreGroup): void {
    this.#held.add(group);
  }

  delete(group: StoreGroup): void {
    this.#held.delete(group);
  }

  /** A lease is stored: nobody needs a permit of the reference limiter any more. */
  serve(): void {
    for (const group of [...this.#held]) group.onStored();
  }

  /** The acquisition outside of chains has ended without a lease. */
  onPendingEnded(failure: PendingFailure): void {
    for (const group of [...this.#held]) group.onPendingEnded(failure);
  }
}
