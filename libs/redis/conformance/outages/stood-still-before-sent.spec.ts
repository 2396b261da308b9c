import diagnostics from 'node:diagnostics_channel';
import type { RedisPartitions, StoreEvent } from '../../src/index.js';
import { createRedisPartitions, STORE_CHANNEL } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { TestServer } from '../../../../test/redis/test-server.js';

const TIMEOUT_MS = 300;

const server = TestServer.forThisFile();

function standStill(): void {
  const untilMs = performance.now() + 1.1 * TIMEOUT_MS;
  while (performance.now() < untilMs);
}

describe.each(CLIENTS)(
  'a process that stands still before its question is sent, through $name',
  ({ open, name }) => {
    let opened: OpenClient;
    let shared: RedisPartitions;
    beforeEach(async () => {
      opened = await open(server.port);
      shared = createRedisPartitions({ client: opened.client, commandTimeoutMs: TIMEOUT_MS, prefix: name });
    });
    afterEach(async () => {
      await shared.dispose();
      opened.close();
    });

    test.each([
      ['a rate', () => shared.getFixedWindowLimiter('rate', () => ({ permitLimit: 9, windowMs: 60_000 }))],
      ['leases', () => shared.getConcurrencyLimiter('leases', () => ({ permitLimit: 9 }))],
    ])('does not take the store for lost, which it has not asked: %s', async (_kind, partition) => {
      const limiter = limiterOf(partition());
      expect((await limiter.acquire()).isAcquired).toBe(true);
      const events: unknown[] = [];
      const onEvent = (event: unknown): void => void events.push((event as StoreEvent).state);
      diagnostics.subscribe(STORE_CHANNEL, onEvent);
      // What is asked among the immediates goes with the next ones, and timers come before them.
      const late = await new Promise<boolean>((resolve, reject) => {
        setImmediate(() => {
          limiter.acquire().then(({ isAcquired }) => resolve(isAcquired), reject);
          standStill();
        });
      });
      const next = await limiter.acquire();
      diagnostics.unsubscribe(STORE_CHANNEL, onEvent);
      expect(late).toBe(false);
      expect(next.isAcquired).toBe(true);
      expect(events).toEqual([]);
    });
  },
);
