import type { AsyncPartitionedRateLimiter, RateLimitLease } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { TestServer } from '../../../../test/redis/test-server.js';

const server = TestServer.forThisFile();

let rounds = 0;
let shared: RedisPartitions;
beforeEach(() => {
  shared = createRedisPartitions({
    client: server.client,
    prefix: `turn-${rounds++}`,
    commandTimeoutMs: 10_000,
  });
});
afterEach(() => shared.dispose());

interface Numbers {
  readonly permitLimit: number;
  readonly queueLimit: number;
  readonly leaseTtlMs?: number;
}

/** A concurrency limiter with numbers that can be changed. */
class Changing {
  readonly limiter: AsyncPartitionedRateLimiter<string>;
  #numbers: Numbers;

  constructor(name: string, numbers: Numbers) {
    this.#numbers = numbers;
    this.limiter = createPartitionedRateLimiter(() =>
      shared.getConcurrencyLimiter('k', () => ({ ...this.#numbers, name })),
    );
  }

  change(numbers: Partial<Numbers>): void {
    this.#numbers = { ...this.#numbers, ...numbers };
    this.limiter.refreshOptions!();
    this.limiter.getStatistics('');
  }

  async waited(count: number): Promise<void> {
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    while (this.limiter.getStatistics('')!.currentQueuedCount !== count) await new Promise(setImmediate);
    // An answer later than theirs.
    await this.limiter.acquire('', 0, { maxWaitMs: 0 });
  }
}

const giveBack = (lease: RateLimitLease): Promise<void> => (lease as RemoteLease)[Symbol.asyncDispose]();

describe.each<[string, Partial<Numbers>]>([
  ['room for more', { queueLimit: 11 }],
  ['no room for others', { queueLimit: 0 }],
  ['a longer time for leases', { leaseTtlMs: 60_000 }],
])('a limiter that is waited for in a chain and has %s meanwhile', (_what, change) => {
  it('serves all in the order in which they came', async () => {
    const [x, y] = ['x', 'y'].map((name) => new Changing(name, { permitLimit: 1, queueLimit: 10 })) as [
      Changing,
      Changing,
    ];
    y.change({ permitLimit: 10 });
    const chain = createChainedPartitionedRateLimiter(x.limiter, y.limiter);
    const held = await x.limiter.acquire('');
    const served: number[] = [];
    const ends: Promise<void>[] = [];
    for (const [place, limiter] of [chain, x.limiter, chain, x.limiter].entries()) {
      const serve = async (): Promise<void> => {
        const lease = await limiter.acquire('');
        expect(lease.isAcquired).toBe(true);
        served.push(place);
        await giveBack(lease);
      };
      ends.push(serve());
      // oxlint-disable-next-line no-await-in-loop -- they come one after the other
      await x.waited(place + 1);
    }
    x.change(change);
    await giveBack(held);
    await Promise.all(ends);
    expect(served).toEqual([0, 1, 2, 3]);
  });
});
