import * as fc from 'fast-check';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  RateLimitPartition,
} from '../../src/index.js';
import type { DefaultPartitionedRateLimiter, PartitionedRateLimiter } from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';
import type { Side } from './answering-side.js';
import { act, sideOf, stateOf } from './answering-side.js';
import type { Member } from './chain-trial.js';
import { helperPartition } from './helper-setups.js';
import { KeyLimiter } from './partition-trial.js';
import type { Command } from './trace.js';
import { anyCommand, settle } from './trace.js';

const KEYS = ['a', 'b', 'c', 'free'] as const;

/** How the tables of both sides are. */
export interface TableSetup {
  readonly idleTimeoutMs: number;
  readonly maxPartitions: number;
  /** Whether each member has a clock of its own. */
  readonly hasOwnClocks: boolean;
}

export const anyTableSetup: fc.Arbitrary<TableSetup> = fc.record({
  idleTimeoutMs: fc.constantFrom(0, 5, 1_000_000),
  maxPartitions: fc.constantFrom(1, 2, 1_000_000),
  hasOwnClocks: fc.boolean(),
});

type KeyCommand = Command & { readonly key: number };
type TableCommand =
  { readonly do: 'stepBack'; readonly ms: number } | { readonly do: 'refresh'; readonly limit: number };

export const anyTableTrace: fc.Arbitrary<(KeyCommand | TableCommand)[]> = fc.array(
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc
        .tuple(anyCommand, fc.nat({ max: KEYS.length - 1 }))
        .map(([command, key]) => ({ ...command, key })),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('stepBack' as const), ms: fc.integer({ min: 1, max: 20 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('refresh' as const), limit: fc.integer({ min: 1, max: 8 }) }),
    },
  ),
  { minLength: 1, maxLength: 50, size: 'max' },
);

/** The same tables twice: in a chain that decides on their rows, and in one that asks them by the protocol. */
export class OutrightTrial {
  readonly #clocks: readonly FakeClock[];
  #limit: number | null = null;
  readonly #tables: readonly (readonly DefaultPartitionedRateLimiter<string, string>[])[];
  /** Of each key, both sides. */
  readonly #sides: readonly (readonly [Side, Side])[];

  constructor(members: readonly Member[], setup: TableSetup) {
    this.#clocks = members.map(() => new FakeClock(12_345));
    const outright = this.#tablesOf(members, setup);
    const byProtocol = this.#tablesOf(members, setup);
    this.#tables = [outright, byProtocol];
    const direct = createChainedPartitionedRateLimiter(...outright);
    // What stands for a nested chain is no row.
    const nested = createChainedPartitionedRateLimiter(
      ...byProtocol.map((table) => createChainedPartitionedRateLimiter(table)),
    );
    this.#sides = KEYS.map((key) => [side(direct, key), side(nested, key)]);
  }

  async run(command: KeyCommand | TableCommand): Promise<void> {
    if (command.do === 'refresh') {
      this.#limit = command.limit;
      for (const table of this.#tables.flat()) table.refreshOptions();
    } else if (command.do === 'stepBack') for (const clock of this.#clocks) clock.skip(-command.ms);
    else if (command.do === 'advance') for (const clock of this.#clocks) clock.advance(command.ms);
    else for (const each of this.#sides[command.key]!) act(each, command);
    await settle();
  }

  get outright(): unknown {
    return this.#stateOf(0);
  }

  get byProtocol(): unknown {
    return this.#stateOf(1);
  }

  #stateOf(which: 0 | 1): unknown {
    return {
      partitions: this.#tables[which]!.map((table) => table.partitionCount),
      keys: this.#sides.map((sides) => stateOf(sides[which])),
    };
  }

  #tablesOf(
    members: readonly Member[],
    setup: TableSetup,
  ): readonly DefaultPartitionedRateLimiter<string, string>[] {
    return members.map(({ kind, setup: numbers }, index) => {
      const { idleTimeoutMs, maxPartitions } = setup;
      const clock = this.#clocks[setup.hasOwnClocks ? index : 0]!;
      return createPartitionedRateLimiter(
        (key: string) => {
          // The first member has no limit for one of the keys.
          if (key === 'free' && index === 0) return RateLimitPartition.getNoLimiter(key);
          return helperPartition(kind, key, () => ({ ...numbers, limit: this.#limit ?? numbers.limit }));
        },
        { clock, idleTimeoutMs, maxPartitions },
      );
    });
  }
}

function side(chain: PartitionedRateLimiter<string>, key: string): Side {
  return sideOf(new KeyLimiter(chain, key), []);
}
