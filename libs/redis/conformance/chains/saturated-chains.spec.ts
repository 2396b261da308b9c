import type { AsyncPartitionedRateLimiter } from '@ratelease/limiters';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  RateLimitPartition,
} from '@ratelease/limiters';
import * as fc from 'fast-check';
import { Redis } from 'ioredis';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { boundedTrace } from '../../../../test/traces/bounded-trace.js';

const server = TestServer.forThisFile();
/** Nobody renews a lease or a place meanwhile: who isn't told of his turn waits for ever. */
const LEASE_TTL_MS = 120_000;
/** All are served in a fraction of it. */
const LONGEST_WAIT_MS = 10_000;
/** Calls for each request: to ask, to give back, and for each time that it is passed over; most need a few. */
const MOST_CALLS_OF_EACH = 25;

type Keys = Readonly<Record<Name, string>>;
const ONE_KEY: Keys = { x: 'k', y: 'k', z: 'k', r: 'k', p: 'p' };
const THREE_KEYS: Keys = { x: 'k', y: 'l', z: 'l', r: 'm', p: 'p' };
const TWO_KEYS: Keys = { x: 'l', y: 'k', z: 'l', r: 'k', p: 'p' };

/**
 * Of the concurrency limiters x, y and z, the rate r, and the concurrency limiter p that each process has of its own; what
 * stands behind a bar is a chain within the chain.
 */
const CHAINS: Record<string, [keys: Keys, chains: string[]]> = {
  'several concurrency limiters of one key': [
    ONE_KEY,
    ['x', 'y', 'xy', 'yx', 'xyz', 'zrx', 'rx', 'xr', 'xry', 'ryx'],
  ],
  'a concurrency limiter and a rate of one key': [ONE_KEY, ['r', 'rx', 'xr']],
  'limiters of two keys': [
    TWO_KEYS,
    ['x', 'y', 'z', 'xy', 'yx', 'xyz', 'zyx', 'zr', 'rz', 'xr', 'ryx', 'xry'],
  ],
  'limiters of three keys, some within a chain of their own': [
    THREE_KEYS,
    [
      'x',
      'yz',
      'p',
      'x|y',
      'y|x',
      'zy|x',
      'x|yz',
      'r|xz',
      'zx|r',
      'xr',
      'ry',
      'yrx',
      'z|r|x',
      'y|z|x',
      'px',
      'xp',
      'y|px',
      'zp|x',
      'prz',
    ],
  ],
};

interface Request {
  readonly process: number;
  readonly chain: string;
  readonly permits: number;
  readonly workMs: number;
  readonly pauseMs: number;
  /** Not at all where that is longer than 30. */
  readonly leavesAfterMs: number;
}

const anyRequestOf = (chains: readonly string[]): fc.Arbitrary<Request> =>
  fc.record({
    process: fc.nat(1),
    chain: fc.constantFrom(...chains),
    permits: fc.integer({ min: 1, max: 3 }),
    workMs: fc.nat(6),
    pauseMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(4)),
    leavesAfterMs: fc.nat(150),
  });

const anyLimits = fc.record({
  x: fc.integer({ min: 1, max: 3 }),
  y: fc.integer({ min: 1, max: 3 }),
  z: fc.integer({ min: 1, max: 3 }),
  /** In 15 ms. */
  r: fc.integer({ min: 2, max: 6 }),
  p: fc.integer({ min: 1, max: 3 }),
});
type Limits = typeof anyLimits extends fc.Arbitrary<infer Of> ? Of : never;
type Name = keyof Limits;

let clients: Redis[];
let rounds = 0;
beforeAll(() => (clients = [0, 1].map(() => new Redis(server.port, '127.0.0.1'))));
afterAll(() => clients.forEach((client) => client.disconnect()));

/** The limiters of a process, which know their keys. */
type Limiters = (name: Name) => AsyncPartitionedRateLimiter<Keys>;

function limitersOf(partitions: RedisPartitions, limits: Limits): Limiters {
  const own = createPartitionedRateLimiter((keys: Keys) =>
    RateLimitPartition.getConcurrencyLimiter(keys.p, () => ({ permitLimit: limits.p, queueLimit: 100 })),
  );
  return (name) =>
    name === 'p'
      ? own
      : createPartitionedRateLimiter((keys: Keys) => {
          const common = { permitLimit: limits[name], queueLimit: 100, name };
          return name === 'r'
            ? partitions.getFixedWindowLimiter(keys[name], () => ({ ...common, windowMs: 15 }))
            : partitions.getConcurrencyLimiter(keys[name], () => ({ ...common, leaseTtlMs: LEASE_TTL_MS }));
        });
}

function chainOf(limiters: Limiters, names: string): AsyncPartitionedRateLimiter<Keys> {
  const bar = names.indexOf('|');
  const own = namesIn(bar < 0 ? names : names.slice(0, bar)).map(limiters);
  const members = bar < 0 ? own : [...own, chainOf(limiters, names.slice(bar + 1))];
  return members.length === 1 ? members[0]! : createChainedPartitionedRateLimiter(...members);
}

function namesIn(chain: string): Name[] {
  return chain.replaceAll('|', '').split('') as Name[];
}

/** Limiters of two processes, and how many permits of each are in use by what they granted. */
class Saturation {
  readonly #limits: Limits;
  readonly #keys: Keys;
  readonly #chains: Map<string, AsyncPartitionedRateLimiter<Keys>>[];
  readonly #inUse = { x: 0, y: 0, z: 0 };
  #mostAboveLimit = 0;

  constructor(
    processes: readonly RedisPartitions[],
    limits: Limits,
    [keys, chains]: readonly [Keys, readonly string[]],
  ) {
    this.#limits = limits;
    this.#keys = keys;
    this.#chains = processes.map((process) => {
      const limiters = limitersOf(process, limits);
      return new Map(chains.map((names) => [names, chainOf(limiters, names)]));
    });
  }

  get mostAboveLimit(): number {
    return this.#mostAboveLimit;
  }

  /** What has become of a request. */
  async run({ process, chain, permits, workMs, leavesAfterMs }: Request): Promise<string> {
    const names = namesIn(chain);
    const permitCount = Math.min(permits, ...names.map((name) => this.#limits[name]));
    const leaving = new AbortController();
    if (leavesAfterMs <= 30) setTimeout(() => leaving.abort(), leavesAfterMs);
    const limiter = this.#chains[process]!.get(chain)!;
    const asked = limiter.acquire(this.#keys, permitCount, { signal: leaving.signal });
    const lease = await asked.catch(() => null);
    if (lease === null) return 'left';
    if (!lease.isAcquired) return String(lease.getMetadata('REASON_PHRASE'));
    this.#count(names, permitCount);
    await new Promise((resolve) => setTimeout(resolve, workMs));
    this.#count(names, -permitCount);
    // The one in process alone has nothing to wait for.
    if (chain === 'p') lease.dispose();
    else await (lease as RemoteLease)[Symbol.asyncDispose]();
    return 'granted';
  }

  #count(names: readonly Name[], permits: number): void {
    for (const name of names) {
      if (name === 'r' || name === 'p') continue;
      this.#inUse[name] += permits;
      this.#mostAboveLimit = Math.max(this.#mostAboveLimit, this.#inUse[name] - this.#limits[name]);
    }
  }
}

test.each(Object.entries(CHAINS))(
  'whoever waits in chains of %s, in whatever order, is served, and none of them above its limit',
  async (_of, [keys, chains]) => {
    await fc.assert(
      fc.asyncProperty(
        anyLimits,
        fc.array(anyRequestOf(chains), { minLength: 20, maxLength: 60 }),
        boundedTrace(async (limits, requests) => {
          const prefix = `saturated-${rounds++}`;
          const processes = clients.map((client) =>
            createRedisPartitions({ client, prefix, commandTimeoutMs: 20_000 }),
          );
          const saturation = new Saturation(processes, limits, [keys, chains]);
          const ends: Promise<string>[] = [];
          const calls = await server.callsOf(async () => {
            for (const request of requests) {
              ends.push(saturation.run(request));
              // oxlint-disable-next-line no-await-in-loop -- the requests come one after the other
              if (request.pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, request.pauseMs));
            }
            await Promise.race([
              Promise.all(ends),
              new Promise((resolve) => setTimeout(resolve, LONGEST_WAIT_MS).unref()),
            ]);
          });
          const allowed = ['granted', 'left'];
          const endsSoFar = await Promise.all(ends.map((end) => Promise.race([end, 'still waits'])));
          expect(endsSoFar.filter((end) => !allowed.includes(end))).toEqual([]);
          expect(saturation.mostAboveLimit).toBe(0);
          expect(calls / requests.length).toBeLessThan(MOST_CALLS_OF_EACH);
          await Promise.all(processes.map((process) => process.dispose()));
          expect(await inUse(prefix, keys)).toEqual([]);
        }),
      ),
      { numRuns: 10, endOnFailure: true },
    );
  },
);

/** What the server still counts as in use or waited for. */
async function inUse(prefix: string, keys: Keys): Promise<string[]> {
  const states = [...new Set(Object.values(keys))].map((key) =>
    server.client.hgetall(`${prefix}:v1:{${key}}`),
  );
  return (await Promise.all(states))
    .flatMap((fields) => Object.entries(fields))
    .filter(([name, value]) => /:concurrency:[uqw]$/.test(name) && value !== '0')
    .map(([name, value]) => `${name} ${value}`);
}
