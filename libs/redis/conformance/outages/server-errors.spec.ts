import diagnostics from 'node:diagnostics_channel';
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { AsyncRateLimiter, RateLimitLease } from '@ratelease/limiters';
import { Redis } from 'ioredis';
import type { RedisPartitions, RemoteLease, StoreEvent } from '../../src/index.js';
import { createRedisPartitions, STORE_CHANNEL, STORE_UNAVAILABLE } from '../../src/index.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';

const LIMIT = 100;

let server: RedisServer;
/** May do everything, whatever the others may. */
let admin: Redis;
beforeAll(async () => {
  server = await RedisServer.start('--busy-reply-threshold', '20');
  const first = new Redis(server.port, '127.0.0.1');
  await first.call('ACL', 'SETUSER', 'admin', 'on', '>secret', '~*', '&*', '+@all');
  first.disconnect();
  admin = new Redis({ host: '127.0.0.1', port: server.port, username: 'admin', password: 'secret' });
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

const setUser = (...rules: string[]): Promise<unknown> => admin.call('ACL', 'SETUSER', 'default', ...rules);
const everything = (): Promise<unknown> => setUser('~*', '&*', '+@all');
const set = (...values: string[]): Promise<unknown> => admin.call('CONFIG', 'SET', ...values);

/** The file of a snapshot, where a folder stands in its way. */
async function snapshot(): Promise<string> {
  const [, folder] = (await admin.config('GET', 'dir')) as string[];
  return join(folder!, 'dump.rdb');
}

async function savedBadly(): Promise<void> {
  mkdirSync(await snapshot());
  await set('save', '3600 1');
  await admin.bgsave();
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while (!(await admin.info('persistence')).includes('rdb_last_bgsave_status:err'));
}

async function savedWell(): Promise<void> {
  rmdirSync(await snapshot());
  await set('save', '');
}

interface Trouble {
  /** The word with which the server tells it. */
  readonly error: string;
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
}

const TROUBLES: Record<string, Trouble> = {
  'is full': { error: 'OOM', begin: () => set('maxmemory', '1'), end: () => set('maxmemory', '0') },
  'can’t save': { error: 'MISCONF', begin: savedBadly, end: savedWell },
  'misses its replicas': {
    error: 'NOREPLICAS',
    begin: () => set('min-replicas-to-write', '1'),
    end: () => set('min-replicas-to-write', '0'),
  },
  'has become a replica': {
    error: 'READONLY',
    begin: () => admin.replicaof('127.0.0.1', '1'),
    end: () => admin.replicaof('NO', 'ONE'),
  },
  'is a replica without a master': {
    error: 'MASTERDOWN',
    begin: async () => {
      await set('replica-serve-stale-data', 'no');
      await admin.replicaof('127.0.0.1', '1');
    },
    end: async () => {
      await admin.replicaof('NO', 'ONE');
      await set('replica-serve-stale-data', 'yes');
    },
  },
  'allows no scripts': { error: 'NOPERM', begin: () => setUser('-@scripting'), end: everything },
  'allows other keys only': {
    error: 'NOPERM',
    begin: () => setUser('resetkeys', '~other*'),
    end: everything,
  },
  // In the words of a script: which ones they are depends on the version.
  'allows scripts no writing': { error: 'ERR', begin: () => setUser('-@write'), end: everything },
  'runs a long script': {
    error: 'BUSY',
    begin: async () => {
      const busy = admin.duplicate();
      busy.eval('while true do end', 0).then(ignore, ignore);
      await untilPong(false);
      busy.disconnect();
    },
    end: async () => {
      await admin.script('KILL');
      await untilPong(true);
    },
  },
};

async function untilPong(isPong: boolean): Promise<void> {
  const ask = (): Promise<boolean> => admin.ping().then(Boolean, () => false);
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while ((await ask()) !== isPong) await new Promise(setImmediate);
}

const ignore = (): void => undefined;

describe.each(CLIENTS)('a server that answers with errors, through $name', (client) => {
  let opened: OpenClient;
  let shared: RedisPartitions;
  let events: StoreEvent[];
  let prefix: string;
  let runs = 0;
  const listener = (event: unknown): void => {
    if ((event as StoreEvent).prefix === prefix) events.push(event as StoreEvent);
  };
  beforeAll(async () => {
    opened = await client.open(server.port);
  });
  afterAll(() => opened.close());
  beforeEach(() => {
    events = [];
    prefix = `${client.name}-${runs++}`;
    diagnostics.subscribe(STORE_CHANNEL, listener);
    shared = createRedisPartitions({
      client: opened.client,
      prefix,
      instances: 20,
      commandTimeoutMs: 10_000,
    });
  });
  afterEach(async () => {
    await shared.dispose();
    diagnostics.unsubscribe(STORE_CHANNEL, listener);
  });

  /** Of one state, whatever they answer without a store. */
  const rateOf = (whenUnavailable: 'allow' | 'deny' | 'local'): AsyncRateLimiter =>
    limiterOf(
      shared.getFixedWindowLimiter('rate', () => ({
        ...{ permitLimit: LIMIT, windowMs: 3_600_000, name: 'rate', whenUnavailable },
      })),
    );
  const slotsOf = (): AsyncRateLimiter =>
    limiterOf(shared.getConcurrencyLimiter('slots', () => ({ permitLimit: 1, queueLimit: 1 })));
  const isRefusedForStore = (lease: RateLimitLease): boolean =>
    !lease.isAcquired &&
    lease.getMetadata('REASON_PHRASE') === STORE_UNAVAILABLE &&
    lease.getMetadata('RETRY_AFTER') === undefined;

  test.each(Object.entries(TROUBLES))(
    'as it %s: each limiter answers as it was told, that is told, and all is well when the server is',
    async (_what, trouble) => {
      const [deny, allow, local] = [rateOf('deny'), rateOf('allow'), rateOf('local')];
      await deny.acquire();
      const lease = await slotsOf().acquire();
      await trouble.begin();
      try {
        expect(isRefusedForStore(await deny.acquire())).toBe(true);
        expect((await allow.acquire()).isAcquired).toBe(true);
        const share = await Promise.all(Array.from({ length: 7 }, () => local.acquire()));
        expect(share.filter(({ isAcquired }) => isAcquired)).toHaveLength(LIMIT / 20);
        // What can't be given back now is given back before anything is asked.
        lease.dispose();
        expect(isRefusedForStore(await slotsOf().acquire())).toBe(true);
      } finally {
        await trouble.end();
      }
      expect((await deny.acquire()).quota()[0]!.remaining).toBe(LIMIT - 2);
      expect((await slotsOf().acquire(1, { maxWaitMs: 0 })).isAcquired).toBe(true);
      expect(shared.isAvailable).toBe(true);
      expect(events).toEqual([{ prefix, state: 'refusing', unanswered: 0, error: trouble.error }]);
    },
  );

  test('is well again once it has decided for a while: the end tells how many had no answer', async () => {
    await TROUBLES['is full']!.begin();
    await Promise.all(Array.from({ length: 5 }, () => rateOf('allow').acquire()));
    await TROUBLES['is full']!.end();
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    while (events.length < 2) await rateOf('deny').acquire(0);
    expect(events).toEqual([
      { prefix, state: 'refusing', unanswered: 0, error: 'OOM' },
      { prefix, state: 'available', unanswered: 5 },
    ]);
  });

  test('that allows what the documents name allows enough', async () => {
    const commands = '+eval +evalsha +time +@hash +@sortedset +pexpire +publish +subscribe +info';
    await setUser(
      '-@all',
      'resetkeys',
      'resetchannels',
      `~${prefix}:*`,
      `&${prefix}:*`,
      ...commands.split(' '),
    );
    try {
      const rates = [
        shared.getFixedWindowLimiter('all', () => ({ permitLimit: 5, windowMs: 60_000 })),
        shared.getSlidingWindowLimiter('all', () => ({
          ...{ permitLimit: 5, windowMs: 60_000, segmentsPerWindow: 3 },
        })),
        ...(['greedy', 'interval'] as const).map((refill) =>
          shared.getTokenBucketLimiter('all', () => ({
            ...{ tokenLimit: 5, tokensPerPeriod: 1, replenishmentPeriodMs: 60_000, refill },
          })),
        ),
      ];
      const granted = await Promise.all(rates.map((rate) => limiterOf(rate).acquire()));
      expect(granted.every(({ isAcquired }) => isAcquired)).toBe(true);
      const lease = await slotsOf().acquire();
      const next = slotsOf().acquire();
      lease.dispose();
      expect((await next).isAcquired).toBe(true);
      expect(events).toEqual([]);
    } finally {
      await everything();
    }
  });

  test('that lets nobody hear messages says so, and who waits is told by messages again once it does', async () => {
    const lease = await slotsOf().acquire();
    await setUser('resetchannels');
    const first = slotsOf().acquire(1, { maxWaitMs: 300_000 });
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    while (events.length === 0) await new Promise(setImmediate);
    expect(events).toEqual([{ prefix, state: 'refusing', unanswered: 0, error: 'NOPERM' }]);
    await everything();
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    while (((await admin.pubsub('CHANNELS', `${prefix}:*`)) as string[]).length === 0);
    lease.dispose();
    // Without a message that is a third of the time of a lease.
    expect(await Promise.race([first.then(() => 'told'), after(5_000, 'looked up', { ref: false })])).toBe(
      'told',
    );
    (await first).dispose();
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    while (events.length < 2) await slotsOf().acquire(0, { maxWaitMs: 0 });
    expect(events[1]).toEqual({ prefix, state: 'available', unanswered: 0 });
    // Also where it hears them already.
    await setUser('resetchannels');
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    while (events.length < 3) await new Promise(setImmediate);
    await everything();
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    while (events.length < 4) await slotsOf().acquire(0, { maxWaitMs: 0 });
    expect(events.map(({ state }) => state)).toEqual(['refusing', 'available', 'refusing', 'available']);
  });

  test('that allows no messages takes back what is given back, and hands it over', async () => {
    const slotsOfTwo = (partitions: RedisPartitions): AsyncRateLimiter =>
      limiterOf(partitions.getConcurrencyLimiter('two', () => ({ permitLimit: 2, queueLimit: 1 })));
    const slots = slotsOfTwo(shared);
    const lease = (await slots.acquire(2)) as RemoteLease;
    const next = slots.acquire();
    // It stands in the queue.
    await slots.acquire(1, { maxWaitMs: 0 });
    const other = createRedisPartitions({ client: admin, commandTimeoutMs: 10_000, prefix });
    await setUser('-publish');
    try {
      await lease[Symbol.asyncDispose]();
      const theirs = await Promise.all([1, 2].map(() => slotsOfTwo(other).acquire(1, { maxWaitMs: 0 })));
      expect(theirs.map(({ isAcquired }) => isAcquired)).toEqual([true, false]);
    } finally {
      await everything();
    }
    await other.dispose();
    await shared.dispose();
    await next;
    expect(await admin.keys(`${prefix}:v1:{two}:*leases`)).toEqual([]);
  });
});
