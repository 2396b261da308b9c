import type { RateLimitLease } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { createRedisPartitions } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';

const DAY = { permitLimit: 1_000, windowMs: 86_400_000 };

const server = TestServer.forThisFile();

let close: () => Promise<void>;
afterEach(() => close());

test.each(CLIENTS)(
  'a request that is aborted while its grant is read is charged nothing, through $name',
  async ({ open }) => {
    const client = await open(server.port);
    const shared = createRedisPartitions({
      client: client.client,
      prefix: client.client.constructor.name,
      commandTimeoutMs: 10_000,
    });
    close = async () => {
      await shared.dispose();
      client.close();
    };
    const first = limiterOf(shared.getFixedWindowLimiter('first', () => DAY));
    // What may wait, and what holds a lease beside a rate, is asked otherwise than a rate alone.
    const queued = limiterOf(shared.getFixedWindowLimiter('queued', () => ({ ...DAY, queueLimit: 5 })));
    const chain = createChainedPartitionedRateLimiter<string>(
      createPartitionedRateLimiter(() => shared.getFixedWindowLimiter('chain', () => DAY)),
      createPartitionedRateLimiter(() => shared.getConcurrencyLimiter('chain', () => ({ permitLimit: 10 }))),
    );
    await Promise.all([first.acquire(1), queued.acquire(1), chain.acquire('', 1)]);
    const granted = [0, 0];
    for (let steps = 0; steps < 12; steps++) {
      const aborting = new AbortController();
      const options = { signal: aborting.signal };
      // At each of the steps that an answer takes from the client to who asked.
      const aborted = first.acquire(0).then(() => abortAfter(steps, aborting));
      const asked = [queued.acquire(2, options), chain.acquire('', 2, options)];
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const ended = await Promise.allSettled(asked);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await aborted;
      ended.forEach((end, index) => {
        if (end.status === 'rejected') return;
        granted[index]! += 2;
        end.value.dispose();
      });
    }
    const left = async (limiter: () => Promise<RateLimitLease>): Promise<number> =>
      (await limiter()).quota()[0]!.remaining;
    expect(await left(() => queued.acquire(0))).toBe(DAY.permitLimit - 1 - granted[0]!);
    expect(await left(() => chain.acquire('', 0))).toBe(DAY.permitLimit - 1 - granted[1]!);
  },
);

async function abortAfter(steps: number, controller: AbortController): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (let step = 0; step < steps; step++) await Promise.resolve();
  controller.abort(new Error('enough'));
}
