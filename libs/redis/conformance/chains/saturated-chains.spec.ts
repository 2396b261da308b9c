import type { AsyncPartitionedRateLimiter } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import * as fc from 'fast-check';
import { Redis } from 'ioredis';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { TestServer } from '../../../../test/redis/test-server.js';

const server = TestServer.forThisFile();
const KEY = 'k';
/** Nobody renews a lease or a place meanwhile: who isn't told of his turn waits for ever. */
const LEASE_TTL_MS = 120_000;
/** All are served in a fraction of it. */
const LONGEST_WAIT_MS = 10_000;
/** Calls for each request: to ask, to give back, and for each time that it is passed over; most need a few. */
const MOST_CALLS_OF_EACH = 25;

/** Of the concurrency limiters x, y and z, and the rate r. */
const CHAINS = {
  'several concurrency limiters': ['x', 'y', 'xy', 'yx', 'xyz', 'zrx', 'rx', 'xr', 'xry', 'ryx'],
  'a concurrency limiter and a rate': ['r', 'rx', 'xr'],
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
});
type Limits = typeof anyLimits extends fc.Arbitrary<infer Of> ? Of : never;
type Name = keyof Limits;

let clients: Redis[];
let rounds = 0;
beforeAll(() => (clients = [0, 1].map(() => new Redis(server.port, '127.0.0.1'))));
afterAll(() => clients.forEach((client) => client.disconnect()));

function chainOf(
  partitions: RedisPartitions,
  limits: Limits,
  names: string,
): AsyncPartitionedRateLimiter<string> {
  const limiters = names.split('').map((name) =>
    createPartitionedRateLimiter((key: string) => {
      const common = { permitLimit: limits[name as Name], queueLimit: 100, name };
      return name === 'r'
        ? partitions.getFixedWindowLimiter(key, () => ({ ...common, windowMs: 15 }))
        : partitions.getConcurrencyLimiter(key, () => ({ ...common, leaseTtlMs: LEASE_TTL_MS }));
    }),
  );
  return limiters.length === 1 ? limiters[0]! : createChainedPartitionedRateLimiter(...limiters);
}

/** Limiters of two processes, and how many permits of each are in use by what they granted. */
class Saturation {
  readonly #limits: Limits;
  readonly #chains: Map<string, AsyncPartitionedRateLimiter<string>>[];
  readonly #inUse = { x: 0, y: 0, z: 0, r: 0 };
  #mostAboveLimit = 0;

  constructor(processes: readonly RedisPartitions[], limits: Limits, chains: readonly string[]) {
    this.#limits = limits;
    this.#chains = processes.map(
      (process) => new Map(chains.map((names) => [names, chainOf(process, limits, names)])),
    );
  }

  get mostAboveLimit(): number {
    return this.#mostAboveLimit;
  }

  /** What has become of a request. */
  async run({ process, chain, permits, workMs, leavesAfterMs }: Request): Promise<string> {
    const names = chain.split('') as Name[];
    const permitCount = Math.min(permits, ...names.map((name) => this.#limits[name]));
    const leaving = new AbortController();
    if (leavesAfterMs <= 30) setTimeout(() => leaving.abort(), leavesAfterMs);
    const asked = this.#chains[process]!.get(chain)!.acquire(KEY, permitCount, { signal: leaving.signal });
    const lease = await asked.catch(() => null);
    if (lease === null) return 'left';
    if (!lease.isAcquired) return String(lease.getMetadata('REASON_PHRASE'));
    this.#count(names, permitCount);
    await new Promise((resolve) => setTimeout(resolve, workMs));
    this.#count(names, -permitCount);
    await (lease as RemoteLease)[Symbol.asyncDispose]();
    return 'granted';
  }

  #count(names: readonly Name[], permits: number): void {
    for (const name of names) {
      if (name === 'r') continue;
      this.#inUse[name] += permits;
      this.#mostAboveLimit = Math.max(this.#mostAboveLimit, this.#inUse[name] - this.#limits[name]);
    }
  }
}

test.each(Object.entries(CHAINS))(
  'whoever waits in chains of %s of a key, in whatever order, is served, and none of them above its limit',
  async (_of, chains) => {
    await fc.assert(
      fc.asyncProperty(
        anyLimits,
        fc.array(anyRequestOf(chains), { minLength: 20, maxLength: 60 }),
        async (limits, requests) => {
          const prefix = `saturated-${rounds++}`;
          const processes = clients.map((client) =>
            createRedisPartitions({ client, prefix, commandTimeoutMs: 20_000 }),
          );
          const saturation = new Saturation(processes, limits, chains);
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
          expect(await inUse(prefix)).toEqual([]);
        },
      ),
      { numRuns: 10, endOnFailure: true },
    );
  },
);

/** What the server still counts as in use or waited for. */
async function inUse(prefix: string): Promise<string[]> {
  const fields = await server.client.hgetall(`${prefix}:v1:{${KEY}}`);
  return Object.entries(fields)
    .filter(([name, value]) => /:concurrency:[uqw]$/.test(name) && value !== '0')
    .map(([name, value]) => `${name} ${value}`);
}
