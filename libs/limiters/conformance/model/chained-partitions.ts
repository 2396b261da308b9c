import {
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
} from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';
import type { Side } from './answering-side.js';
import { act, sideOf, stateOf } from './answering-side.js';
import type { Member } from './chain-trial.js';
import { helperPartition } from './helper-setups.js';
import { createLimiter } from './limiter-setups.js';
import { KeyLimiter } from './partition-trial.js';
import type { Command } from './trace.js';
import { settle } from './trace.js';

/** Two chains of the same numbers, of partitions and of ordinary limiters, to both of which the same happens. */
export class ChainedPartitions {
  readonly #clock = new FakeClock(12_345);
  readonly #sides: readonly [Side, Side];

  /** @param isTwice - whether the first member stands at the end once more. */
  constructor(members: readonly Member[], isTwice: boolean) {
    const partitioned = members.map(({ kind, setup }) =>
      createPartitionedRateLimiter((key: unknown) => helperPartition(kind, key, () => setup), {
        clock: this.#clock,
        idleTimeoutMs: 1_000_000,
      }),
    );
    const limiters = members.map(({ kind, setup }) => createLimiter(kind, setup, this.#clock));
    const chain = createChainedPartitionedRateLimiter(...asOften(partitioned, isTwice));
    this.#sides = [
      sideOf(
        new KeyLimiter(chain, 'key'),
        partitioned.map((limiter) => new KeyLimiter(limiter, 'key')),
      ),
      sideOf(createChainedRateLimiter(...asOften(limiters, isTwice)), limiters),
    ];
    // A limiter begins when it is made, a partition at its first use.
    for (const member of this.#sides[0].members) member.getStatistics();
  }

  /** Lets a command happen to both. */
  async run(command: Command): Promise<void> {
    if (command.do === 'advance') this.#clock.advance(command.ms);
    else for (const side of this.#sides) act(side, command);
    await settle();
  }

  get partitioned(): unknown {
    return stateOf(this.#sides[0]);
  }

  get ordinary(): unknown {
    return stateOf(this.#sides[1]);
  }
}

function asOften<T>(members: readonly T[], isTwice: boolean): readonly T[] {
  return isTwice ? [...members, members[0]!] : members;
}
