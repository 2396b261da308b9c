import type { AsyncRateLimiter, RateLimitLease } from '@ratelease/limiters';
import { Redis } from 'ioredis';
import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { CuttingProxy } from '../../../../test/redis/cutting-proxy.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';

let server: RedisServer;
let proxy: CuttingProxy;
let admin: Redis;
beforeAll(async () => {
  server = await RedisServer.start();
  proxy = await CuttingProxy.start(server.port);
  admin = new Redis(server.port, '127.0.0.1');
});
afterAll(async () => {
  admin.disconnect();
  proxy.stop();
  await server.stop();
});

function hold(limiter: AsyncRateLimiter, count: number): Promise<RateLimitLease[]> {
  return Promise.all(Array.from({ length: count }, () => limiter.acquire()));
}

describe.each(CLIENTS)(
  'what a process gives back it finds free when it asks next, through $name',
  (client) => {
    let opened: OpenClient;
    let shared: RedisPartitions;
    let keys = 0;
    beforeEach(async () => {
      opened = await client.open(proxy.port);
      shared = createRedisPartitions({
        client: opened.client,
        commandTimeoutMs: 10_000,
        prefix: client.name,
      });
      keys++;
    });
    afterEach(async () => {
      proxy.delayMs = 0;
      await shared.dispose();
      opened.close();
    });

    const slotsOf = (key: string, permitLimit: number): AsyncRateLimiter =>
      limiterOf(shared.getConcurrencyLimiter(key, () => ({ permitLimit })));

    const isReady = (): boolean => {
      const { status, isReady: isUp } = opened.client as { status?: string; isReady?: boolean };
      return isUp ?? status === 'ready';
    };

    /** Until the client has noticed. */
    async function untilAway(): Promise<void> {
      // oxlint-disable-next-line no-await-in-loop -- turn by turn
      while (isReady()) await new Promise(setImmediate);
    }

    async function untilReady(): Promise<void> {
      // oxlint-disable-next-line no-await-in-loop -- turn by turn
      while (!isReady()) await new Promise(setImmediate);
    }

    test('while another release is on its way', async () => {
      const slots = slotsOf(`on its way ${keys}`, 3);
      const leases = await hold(slots, 3);
      proxy.delayMs = 30;
      for (const lease of leases) {
        lease.dispose();
        // oxlint-disable-next-line no-await-in-loop -- in turns of their own
        await new Promise(setImmediate);
      }
      expect((await slots.acquire(3)).isAcquired).toBe(true);
    });

    test('within a turn in which something was asked for before', async () => {
      const slots = slotsOf(`a turn ${keys}`, 1);
      const lease = await slots.acquire();
      const before = slotsOf(`another ${keys}`, 1).acquire();
      lease.dispose();
      expect((await slots.acquire()).isAcquired).toBe(true);
      await before;
    });

    test('where so much is asked that the first of it is sent before the turn is over', async () => {
      const slots = slotsOf(`so much ${keys}`, 1);
      const others = Array.from({ length: 100 }, (_, index) => slotsOf(`so much ${keys} ${index}`, 1));
      const lease = await slots.acquire();
      lease.dispose();
      const asked = [slots, ...others].map((limiter) => limiter.acquire());
      expect((await asked[0]!).isAcquired).toBe(true);
      await Promise.all(asked);
    });

    test('where the server does not know yet how to release', async () => {
      await admin.script('FLUSH', 'SYNC');
      const slots = slotsOf(`not known ${keys}`, 1);
      const lease = await slots.acquire();
      lease.dispose();
      expect((await slots.acquire()).isAcquired).toBe(true);
    });

    test('where the server has forgotten how to release', async () => {
      const slots = slotsOf(`forgotten ${keys}`, 1);
      (await slots.acquire()).dispose();
      const lease = await slots.acquire();
      await admin.script('FLUSH', 'SYNC');
      await slots.acquire(0);
      lease.dispose();
      expect((await slots.acquire()).isAcquired).toBe(true);
    });

    test('where another process has told the server how to decide, but not how to release', async () => {
      const slots = slotsOf(`told by another ${keys}`, 1);
      (await slots.acquire()).dispose();
      const lease = await slots.acquire();
      proxy.cut();
      await untilAway();
      await admin.script('FLUSH', 'SYNC');
      const other = createRedisPartitions({ client: admin, prefix: 'other' });
      await limiterOf(other.getConcurrencyLimiter('slots', () => ({ permitLimit: 1 }))).acquire(0);
      await untilReady();
      lease.dispose();
      expect((await slots.acquire()).isAcquired).toBe(true);
      await other.dispose();
    });

    test('after the connection was away', async () => {
      const slots = slotsOf(`away ${keys}`, 1);
      const lease = await slots.acquire();
      proxy.cut();
      await untilAway();
      lease.dispose();
      expect((await slots.acquire()).isAcquired).toBe(true);
    });
  },
);

describe('what a cluster hears in another order than it was told', () => {
  let client: OverturningClient;
  let shared: RedisPartitions;
  let keys = 0;
  beforeEach(() => {
    client = new OverturningClient(server.port);
    shared = createRedisPartitions({
      client: client.asCluster,
      commandTimeoutMs: 10_000,
      prefix: 'overturned',
    });
    keys++;
  });
  afterEach(async () => {
    await shared.dispose();
    client.close();
  });

  const limiterOfPermits = (permitLimit: number, queueLimit = 0): AsyncRateLimiter =>
    limiterOf(shared.getConcurrencyLimiter(`slots ${keys}`, () => ({ permitLimit, queueLimit })));

  test('a question that overtakes what is given back is asked again', async () => {
    const slots = limiterOfPermits(1);
    const lease = await slots.acquire();
    client.holdReleases();
    lease.dispose();
    const asked = slots.acquire();
    await client.untilDecided();
    client.letGo();
    expect((await asked).isAcquired).toBe(true);
  });

  test('also where both are answered in one', async () => {
    const slots = limiterOfPermits(1);
    const lease = await slots.acquire();
    client.holdReleases('behind the next decision');
    lease.dispose();
    expect((await slots.acquire()).isAcquired).toBe(true);
  });

  test('also of several in a call that one which was refused, and no other', async () => {
    const slots = limiterOfPermits(3);
    const lease = await slots.acquire(2);
    client.holdReleases();
    lease.dispose();
    const asked = Promise.all([slots.acquire(), slots.acquire(2)]);
    await client.untilDecided();
    client.letGo();
    expect((await asked).map(({ isAcquired }) => isAcquired)).toEqual([true, true]);
    expect((await slots.acquire(0)).isAcquired).toBe(false);
  });

  test('what is given back only after the question does not count, and costs no call', async () => {
    const slots = limiterOfPermits(1);
    const lease = await slots.acquire();
    client.holdReleases();
    const asked = slots.acquire();
    await new Promise(process.nextTick);
    const before = client.decisions;
    lease.dispose();
    expect((await asked).isAcquired).toBe(false);
    expect(client.decisions - before).toBeLessThanOrEqual(1);
    client.letGo();
  });

  test('a refusal behind what was given back is asked once', async () => {
    const slots = limiterOfPermits(2);
    const [first] = await hold(slots, 2);
    first!.dispose();
    const before = client.decisions;
    expect((await slots.acquire(2)).isAcquired).toBe(false);
    expect(client.decisions - before).toBe(1);
  });

  test('without an answer to what is given back there is none at the end of its time', async () => {
    const quick = createRedisPartitions({ client: client.asCluster, commandTimeoutMs: 100, prefix: 'quick' });
    const slots = limiterOf(
      quick.getConcurrencyLimiter('slots', () => ({ permitLimit: 1, whenUnavailable: 'deny' })),
    );
    const lease = await slots.acquire();
    client.holdReleases();
    lease.dispose();
    expect((await slots.acquire()).isAcquired).toBe(false);
    client.letGo();
    await quick.dispose();
  });
});

/** A server alone that passes for a cluster whose client sends again what was lost, but in an order of its own. */
class OverturningClient {
  decisions = 0;
  /** As the client of ioredis that it stands for. */
  readonly asCluster: object;
  readonly #redis: Redis;
  #held: (() => void)[] | null = null;
  #isHeldForOne = false;
  #onDecided = (): void => undefined;

  constructor(port: number) {
    this.#redis = new Redis(port, '127.0.0.1');
    this.asCluster = new Proxy(this.#redis, {
      get: (redis, name) => {
        if (name === 'isCluster') return true;
        if (name === 'eval') return this.#eval.bind(this);
        if (name === 'evalsha') return this.#decide.bind(this);
        const value: unknown = Reflect.get(redis, name, redis);
        return typeof value === 'function' ? (value.bind(redis) as unknown) : value;
      },
    });
  }

  /** In a cluster a release brings its text each time. */
  #eval(text: string, ...args: [number, ...string[]]): Promise<unknown> {
    const send = (): Promise<unknown> => this.#redis.eval(text, ...args);
    if (this.#held === null) return send();
    const held = this.#held;
    return new Promise((resolve, reject) => held.push(() => void send().then(resolve, reject)));
  }

  async #decide(sha: string, ...args: [number, ...string[]]): Promise<unknown> {
    this.decisions++;
    const sent = this.#redis.evalsha(sha, ...args);
    if (this.#isHeldForOne) this.letGo();
    const reply = await sent;
    setImmediate(this.#onDecided);
    return reply;
  }

  holdReleases(until?: 'behind the next decision'): void {
    this.#held = [];
    this.#isHeldForOne = until !== undefined;
  }

  letGo(): void {
    const held = this.#held;
    this.#held = null;
    this.#isHeldForOne = false;
    for (const send of held ?? []) send();
  }

  /** Until a decision has been answered. */
  untilDecided(): Promise<void> {
    return new Promise((resolve) => (this.#onDecided = resolve));
  }

  close(): void {
    this.#redis.disconnect();
  }
}
