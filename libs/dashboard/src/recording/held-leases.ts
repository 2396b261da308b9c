/** A lease that is held. */
export interface HeldLease {
  readonly endpoint: string;
  /** The policies whose permits it holds, each with the key. */
  readonly holds: readonly { readonly policy: string; readonly key: string }[];
  /** When it was granted, by the recorder's clock. */
  readonly sinceMs: number;
}

/** How many leases are followed at a time. */
export const LEASES_FOLLOWED = 1_000;

/**
 * The leases that are held, the eldest first. Beyond 1,000 at a time, younger ones aren't followed: it is the
 * eldest that one looks for.
 */
export class HeldLeases {
  readonly #leases = new Map<number, HeldLease>();

  /** A lease was granted. */
  add(acquisition: number, lease: HeldLease): void {
    if (this.#leases.size < LEASES_FOLLOWED) this.#leases.set(acquisition, lease);
  }

  /** A lease has gone back. */
  remove(acquisition: number): void {
    this.#leases.delete(acquisition);
  }

  /** Forgets all: who doesn't listen doesn't hear of their end. */
  clear(): void {
    this.#leases.clear();
  }

  /** Those that are held longest. */
  eldest(length: number): readonly HeldLease[] {
    const eldest: HeldLease[] = [];
    for (const lease of this.#leases.values()) {
      if (eldest.length === length) break;
      eldest.push(lease);
    }
    return eldest;
  }
}
