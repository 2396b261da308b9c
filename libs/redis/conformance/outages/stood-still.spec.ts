import diagnostics from 'node:diagnostics_channel';
import type { AsyncRateLimiter, RateLimitLease, RateLimitPartition } from '@ratelease/limiters';
import type { RedisPartitions, StoreEvent } from '../../src/index.js';
import { createRedisPartitions, STORE_CHANNEL } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { amongSockets, standStill, written } from './standing-still.js';

const TIMEOUT_MS = 1_000;
const STILL_MS = 1.1 * TIMEOUT_MS;

const server = TestServer.forThisFile();

describe.each(CLIENTS)('a process that stands still, through $name', ({ open, name }) => {
  let opened: OpenClient;
  let shared: RedisPartitions;
  let events: unknown[];
  const onEvent = (event: unknown): void => void events.push((event as StoreEvent).state);
  beforeEach(async () => {
    opened = await open(server.port);
    shared = createRedisPartitions({ client: opened.client, commandTimeoutMs: TIMEOUT_MS, prefix: name });
    events = [];
    diagnostics.subscribe(STORE_CHANNEL, onEvent);
  });
  afterEach(async () => {
    diagnostics.unsubscribe(STORE_CHANNEL, onEvent);
    await shared.dispose();
    opened.close();
  });

  const kinds: [string, () => RateLimitPartition<string, AsyncRateLimiter>][] = [
    ['a rate', () => shared.getFixedWindowLimiter('rate', () => ({ permitLimit: 99, windowMs: 60_000 }))],
    ['leases', () => shared.getConcurrencyLimiter('leases', () => ({ permitLimit: 9 }))],
  ];

  test.each(kinds)(
    'before its question is sent does not take the store for lost: %s',
    async (_kind, make) => {
      const limiter = limiterOf(make());
      expect((await limiter.acquire()).isAcquired).toBe(true);
      // What is asked among the immediates goes with the next ones, and timers come before them.
      const late = await new Promise<RateLimitLease>((resolve, reject) => {
        setImmediate(() => {
          limiter.acquire().then(resolve, reject);
          standStill(STILL_MS);
        });
      });
      expect(late.isAcquired).toBe(false);
      expect((await limiter.acquire()).isAcquired).toBe(true);
      expect(events).toEqual([]);
    },
  );

  test.each(kinds)(
    'while the answer comes finds it when it goes on, however late: %s',
    async (_kind, make) => {
      const limiter = limiterOf(make());
      expect((await limiter.acquire()).isAcquired).toBe(true);
      const asked = [limiter.acquire(), limiter.acquire(2)];
      await written(name);
      standStill(STILL_MS);
      expect((await Promise.all(asked)).map(({ isAcquired }) => isAcquired)).toEqual([true, true]);
      expect(events).toEqual([]);
    },
  );

  test.each(kinds)(
    'and sends its question when it goes on does not take the store for lost: %s',
    async (_kind, make) => {
      const limiter = limiterOf(make());
      expect((await limiter.acquire()).isAcquired).toBe(true);
      const [late] = await amongSockets(() => {
        const asked = limiter.acquire();
        standStill(STILL_MS);
        return [asked];
      });
      expect((await late).isAcquired).toBe(false);
      expect((await limiter.acquire()).isAcquired).toBe(true);
      expect(events).toEqual([]);
    },
  );

  test.each(kinds)(
    'while a question waits behind one that is answered does not take the store for lost: %s',
    async (_kind, make) => {
      const limiter = limiterOf(make());
      expect((await limiter.acquire()).isAcquired).toBe(true);
      const before = limiter.acquire();
      await written(name);
      // The answer comes while the process stands still.
      const late = limiter.acquire();
      standStill(STILL_MS);
      expect((await before).isAcquired).toBe(true);
      expect((await late).isAcquired).toBe(false);
      expect((await limiter.acquire()).isAcquired).toBe(true);
      expect(events).toEqual([]);
    },
  );
});
