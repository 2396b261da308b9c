import type { RateLimiter } from '@ratelease/limiters';
import { createPartitionedRateLimiter, partitionOf } from '@ratelease/limiters';
import type { LimiterDefinition } from '../remote/limiter-definition.js';
import { isSameLimiter } from '../remote/limiter-definition.js';

/** A limiter in this process, and the most that it can grant. */
export interface LocalShare {
  readonly limiter: RateLimiter;
  readonly limit: number;
}

interface AskedShare {
  readonly key: string;
  readonly definition: LimiterDefinition;
}

/** The limiters in this process that stand in for those of the store, each with its share of a limit. */
export class LocalShares {
  /** What each of them was made or last changed by. */
  readonly #definitions = new WeakMap<RateLimiter, LimiterDefinition>();
  readonly #limiters = createPartitionedRateLimiter((asked: AskedShare) => ({
    partitionKey: asked.key,
    factory: () => this.#make(asked),
  }));

  /** The share of a limiter. It goes by what the limiter is now, and what is spent stays spent. */
  of(partitionKey: string, definition: LimiterDefinition): LocalShare {
    const asked = { key: `${partitionKey} ${definition.name}`, definition };
    // Without a cap none is refused, and each is as it was made.
    const limiter = this.#limiters[partitionOf](asked) as RateLimiter;
    const { localLimit } = this.#bringUpToDate(limiter, asked);
    return { limiter, limit: localLimit };
  }

  #make({ key, definition }: AskedShare): RateLimiter {
    const limiter = definition.localPartition(key, definition.clock).factory(key);
    this.#definitions.set(limiter, definition);
    return limiter;
  }

  /** Changes this one alone, as it is used: however many have other numbers, each costs what it costs itself. */
  #bringUpToDate(limiter: RateLimiter, { key, definition }: AskedShare): LimiterDefinition {
    const before = this.#definitions.get(limiter)!;
    // Of two that are asked by one name the later one counts: who asked before may come here after it.
    if (definition.revision <= before.revision) return before;
    if (!isSameLimiter(before, definition)) {
      // Who waits is timed by the clock that it has.
      const { clock } = before;
      definition.localPartition(key, clock).refresh!(limiter, key, { clock });
    }
    this.#definitions.set(limiter, definition);
    return definition;
  }
}
