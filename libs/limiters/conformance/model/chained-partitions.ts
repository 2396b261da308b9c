import {
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
} from '../../src/index.js';
import type { RateLimiter, RateLimitLease } from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';
import type { Member } from './chain-trial.js';
import { helperPartition } from './helper-setups.js';
import { createLimiter } from './limiter-setups.js';
import { KeyLimiter } from './partition-trial.js';
import type { Command } from './trace.js';
import { picked, settle } from './trace.js';

type Answer = RateLimitLease | 'waiting' | 'aborted' | 'misuse';

/** A chain and its members, and what became of the requests to it. */
interface Side {
  readonly chain: RateLimiter;
  readonly members: readonly RateLimiter[];
  readonly answers: Answer[];
  readonly aborts: AbortController[];
}

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

function sideOf(chain: RateLimiter, members: readonly RateLimiter[]): Side {
  return { chain, members, answers: [], aborts: [] };
}

function asOften<T>(members: readonly T[], isTwice: boolean): readonly T[] {
  return isTwice ? [...members, members[0]!] : members;
}

function act({ chain, answers, aborts }: Side, command: Exclude<Command, { do: 'advance' }>): void {
  if (command.do === 'abort') return picked(aborts, command.pick)?.abort(new Error('aborted'));
  if (command.do === 'disposeLease') {
    const answer = picked(answers, command.pick);
    if (typeof answer === 'object') answer.dispose();
    return;
  }
  const index = answers.push('waiting') - 1;
  const abort = new AbortController();
  aborts.push(abort);
  if (command.do === 'attempt') {
    try {
      answers[index] = chain.attemptAcquire(command.permits);
    } catch {
      answers[index] = 'misuse';
    }
    return;
  }
  chain.acquire(command.permits, { signal: abort.signal }).then(
    (lease) => (answers[index] = lease),
    (error: unknown) => (answers[index] = error instanceof RangeError ? 'misuse' : 'aborted'),
  );
}

function stateOf({ members, answers }: Side): unknown {
  return {
    answers: answers.map((answer) => (typeof answer === 'object' ? told(answer) : answer)),
    members: members.map((member) => member.getStatistics()),
  };
}

function told(lease: RateLimitLease): unknown {
  const metadata = [...lease.metadataNames].map((name) => [name, lease.getMetadata(name)]);
  return { isAcquired: lease.isAcquired, metadata, quota: lease.quota() };
}
