import * as fc from 'fast-check';
import { createPartitionedRateLimiter, RateLimiter, RateLimitPartition } from '../../src/index.js';
import type {
  DefaultPartitionedRateLimiter,
  PartitionedRateLimiter,
  RateLimiterStatistics,
  RateLimitLease,
} from '../../src/index.js';
import { helperPartition } from './helper-setups.js';
import type { Kind, Setup } from './limiter-setups.js';
import { createLimiter } from './limiter-setups.js';
import type { Command } from './trace.js';
import { anyCommand } from './trace.js';
import { Watch } from './watched-limiters.js';

/** Keys that a naive table mixes up. */
export const HOSTILE_KEYS: readonly unknown[] = [
  '__proto__',
  'constructor',
  '',
  '0',
  0,
  NaN,
  'NaN',
  null,
  'null',
  undefined,
  true,
  1n,
  '1',
  Symbol('key'),
  Symbol('key'),
  {},
  {},
  'x'.repeat(10_000),
];

export type PartitionCommand = Command & { readonly key: number };

/** Commands for a few keys, with pauses long enough for partitions to leave. */
export const anyPartitionTrace: fc.Arbitrary<PartitionCommand[]> = fc.array(
  fc
    .tuple(
      fc.oneof(
        { weight: 9, arbitrary: anyCommand },
        {
          weight: 1,
          arbitrary: fc.record({
            do: fc.constant('advance' as const),
            ms: fc.integer({ min: 100, max: 400 }),
          }),
        },
      ),
      fc.nat({ max: HOSTILE_KEYS.length - 1 }),
    )
    .map(([command, key]) => ({ ...command, key: key % 5 === 0 ? key : key % 3 })),
  { minLength: 5, maxLength: 60, size: 'max' },
);

/** One key of a partitioned limiter as a limiter. */
export class KeyLimiter extends RateLimiter {
  readonly #partitions: PartitionedRateLimiter<unknown>;
  readonly #key: unknown;

  constructor(partitions: PartitionedRateLimiter<unknown>, key: unknown) {
    super();
    this.#partitions = partitions;
    this.#key = key;
  }

  override get idleDurationMs(): null {
    return null;
  }

  override getStatistics(): RateLimiterStatistics | null {
    return this.#partitions.getStatistics(this.#key);
  }

  protected override attemptAcquireCore(permits: number): RateLimitLease {
    return this.#partitions.attemptAcquire(this.#key, permits);
  }

  protected override acquireCore(permits: number, signal?: AbortSignal): Promise<RateLimitLease> {
    return this.#partitions.acquire(this.#key, permits, { signal });
  }
}

/** A partitioned limiter, with partitions by the helper of their kind or by the general one. */
function createPartitions(
  kind: Kind,
  setup: Setup,
  how: { watch: Watch; by: 'helper' | 'get' },
): DefaultPartitionedRateLimiter<unknown, unknown> {
  return createPartitionedRateLimiter(
    (key: unknown) =>
      how.by === 'helper'
        ? helperPartition(kind, key, () => setup)
        : RateLimitPartition.get(key, () => createLimiter(kind, setup, how.watch.clock)),
    { idleTimeoutMs: 50, clock: how.watch.clock },
  );
}

/** A partitioned limiter, and beside it a limiter for each key that is never thrown away. */
export class PartitionTrial {
  readonly watch = new Watch();
  readonly twins = new Watch(this.watch.clock);
  readonly partitions: DefaultPartitionedRateLimiter<unknown, unknown>;
  readonly #keys = new Map<number, { key: KeyLimiter; twin: RateLimiter }>();
  readonly #kind: Kind;
  readonly #setup: Setup;

  constructor(kind: Kind, setup: Setup, by: 'helper' | 'get') {
    this.#kind = kind;
    this.#setup = setup;
    this.partitions = createPartitions(kind, setup, { watch: this.watch, by });
  }

  async run(command: PartitionCommand): Promise<void> {
    const { watch, twins } = this;
    if (command.do === 'advance') return watch.advance(command.ms);
    if (command.do === 'disposeLease') {
      await watch.disposeOne(command.pick);
      return twins.disposeOne(command.pick);
    }
    if (command.do === 'abort') {
      await watch.abortOne(command.pick);
      return twins.abortOne(command.pick);
    }
    const { key, twin } = this.limiters(command.key);
    const permits = Math.min(command.permits, this.#setup.limit);
    if (command.do === 'attempt') {
      watch.attempt(key, permits);
      twins.attempt(twin, permits);
      return;
    }
    await watch.acquire(key, permits);
    await twins.acquire(twin, permits);
  }

  limiters(index: number): { key: KeyLimiter; twin: RateLimiter } {
    let found = this.#keys.get(index);
    if (found === undefined) {
      const twin = createLimiter(this.#kind, this.#setup, this.watch.clock);
      found = { key: new KeyLimiter(this.partitions, HOSTILE_KEYS[index]), twin };
      this.#keys.set(index, found);
    }
    return found;
  }

  async drain(): Promise<void> {
    for (let round = 0; round < 10_000 && this.watch.waiting.length > 0; round++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      while (this.watch.holding.length > 0) await this.watch.disposeOne(0);
      // oxlint-disable-next-line no-await-in-loop
      await this.watch.advance(1);
    }
    // oxlint-disable-next-line no-await-in-loop
    while (this.watch.holding.length > 0) await this.watch.disposeOne(0);
  }
}
