import { Lane } from './lane.js';
import type { LimiterGroup } from './limiter-group.js';

/** So many lanes are known before those are dropped on which nothing goes on. */
const FEWEST_KNOWN = 4_096;

/**
 * The lanes on which something goes on, by the names of their groups, and some others. One is not dropped at its end: a
 * `Map` that entries come to and leave is rebuilt every few of them, and V8 leaves each rebuilt table linked to the next.
 * Once one of those is old, all that follow, and what they lead to, outlive the collections of young objects.
 */
export class Lanes {
  #byName = new Map<string, Lane>();
  #mostKnown = FEWEST_KNOWN;

  /** The lane of a group, the same one for all groups of its name as long as something goes on there. */
  of(group: LimiterGroup): Lane {
    // Most groups know theirs already, and a table as large as this one is seldom in a cache of the processor.
    if (group.lane?.isKnown === true) return group.lane;
    const known = this.#byName.get(group.name);
    if (known !== undefined) return (group.lane = known);
    if (this.#byName.size >= this.#mostKnown) this.#dropIdle();
    const lane = (group.lane ??= new Lane(group));
    lane.isKnown = true;
    this.#byName.set(group.name, lane);
    return lane;
  }

  /** How many are known. */
  get size(): number {
    return this.#byName.size;
  }

  [Symbol.iterator](): Iterator<Lane> {
    return this.#byName.values();
  }

  /** Into a new table: that of the old one would lead to it. */
  #dropIdle(): void {
    const inUse = new Map<string, Lane>();
    for (const [name, lane] of this.#byName) {
      lane.isKnown = !lane.isIdle;
      if (lane.isKnown) inUse.set(name, lane);
    }
    this.#byName = inUse;
    this.#mostKnown = Math.max(FEWEST_KNOWN, 2 * inUse.size);
  }
}
