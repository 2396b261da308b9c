import type { RateLimitLease, RateLimiter } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import * as fc from 'fast-check';
import type { RedisPartitions } from '../../src/create-redis-partitions.js';
import { buildRedisPartitions } from '../../src/create-redis-partitions.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';
import type { Rate, Setup } from './limiter-pair.js';
import { inProcess, RATES, shared } from './limiter-pair.js';
import { boundedTrace } from '../../../../test/traces/bounded-trace.js';

const PROCESSES = 3;
const START_US = 1_783_228_800_123_456;
/** Bounds are proved here, however long a busy machine takes. */
const commandTimeoutMs = 30_000;

const anySetup: fc.Arbitrary<Setup> = fc.record({
  limit: fc.integer({ min: 1, max: 60 }),
  windowUs: fc.oneof(fc.integer({ min: 3_000, max: 90_000 }), fc.integer({ min: 100_000, max: 3_000_000 })),
  segments: fc.integer({ min: 1, max: 7 }),
  tokens: fc.integer({ min: 1, max: 40 }),
});

interface Step {
  readonly afterUs: number;
  readonly process: number;
  readonly requests: readonly number[];
}

/** Requests of one process at one moment. */
const anyStep: fc.Arbitrary<Step> = fc.record({
  afterUs: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 3_000 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 60_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 900_000 }) },
  ),
  process: fc.integer({ min: 0, max: PROCESSES - 1 }),
  requests: fc.array(fc.oneof({ weight: 6, arbitrary: fc.constant(1) }, fc.integer({ min: 0, max: 6 })), {
    minLength: 1,
    maxLength: 8,
  }),
});
const anyOptions = fc.record({
  reserveAhead: fc.integer({ min: 1, max: 25 }),
  instances: fc.integer({ min: 1, max: PROCESSES }),
  refusalCacheMs: fc.constantFrom(0, 0, 400),
});

let server: RedisServer;
let clients: OpenClient[];
beforeAll(async () => {
  server = await RedisServer.start();
  clients = await Promise.all(
    Array.from({ length: PROCESSES }, (_, index) => CLIENTS[index % CLIENTS.length]!.open(server.port)),
  );
});
afterAll(async () => {
  for (const client of clients) client.close();
  await server.stop();
});

let traces = 0;

/** Some processes with one limiter, by one clock, and what they may grant at most. */
class Trace {
  readonly #clock = new FakeClock();
  readonly #key = `trace-${traces++}`;
  readonly #rate: Rate;
  readonly #setup: Setup;
  readonly #slack: number;
  readonly #partitions: RedisPartitions[];
  readonly #limiters: ReturnType<typeof shared>[];
  /** Decides as one limiter would that hears of each grant when it is made. */
  readonly #bound: RateLimiter;
  #nowUs = START_US;

  constructor(rate: Rate, setup: Setup, options: { reserveAhead: number }) {
    this.#rate = rate;
    this.#setup = setup;
    this.#slack = rate.endsWith('Window') ? 0 : PROCESSES * options.reserveAhead;
    const more = { ...options, clock: this.#clock };
    this.#partitions = clients.map(({ client }) => this.#partitionsOf(client));
    this.#limiters = this.#partitions.map((one) => shared(one, rate, setup, this.#key, more));
    this.#bound = inProcess(rate, { ...setup, limit: setup.limit + this.#slack }, this.#clock);
  }

  advance(us: number): void {
    this.#nowUs += us;
    this.#clock.advance(us / 1_000);
  }

  /** All at once, and each grant within the bound. */
  async ask(process: number, requests: readonly number[]): Promise<RateLimitLease[]> {
    const asked = requests.map((permits) => Math.min(permits, this.#setup.limit));
    const leases = await Promise.all(asked.map((permits) => this.#limiters[process]!.acquire(permits)));
    const granted = leases.reduce((sum, lease, index) => sum + (lease.isAcquired ? asked[index]! : 0), 0);
    expect(granted).toBeLessThanOrEqual(this.available);
    if (granted > 0) expect(this.#bound.attemptAcquire(granted).isAcquired).toBe(true);
    return leases;
  }

  /** What the bound leaves. */
  get available(): number {
    return this.#bound.getStatistics()!.currentAvailablePermits;
  }

  async end(): Promise<void> {
    await Promise.all(this.#partitions.map((one) => one.dispose()));
  }

  /** What the server has left once all processes have ended. */
  async left(): Promise<number> {
    const partitions = this.#partitionsOf(clients[0]!.client);
    const lease = await shared(partitions, this.#rate, this.#setup, this.#key).acquire(0);
    await partitions.dispose();
    return lease.quota()[0]!.remaining;
  }

  #partitionsOf(client: object): RedisPartitions {
    return buildRedisPartitions({ client, prefix: 'ahead', commandTimeoutMs }, () => this.#nowUs);
  }
}

const numRuns = 100;
// The first use of a key begins its windows, as the construction does in process.
const FIRST: Step = { afterUs: 0, process: 0, requests: [1] };
const anySteps = fc.array(anyStep, { minLength: 1, maxLength: 25 }).map((steps) => [FIRST, ...steps]);
const anyTrace = [anySetup, anyOptions, anySteps] as const;

test.each(RATES)('processes that reserve ahead of a %s never grant more than the bound', async (rate) => {
  const property = fc.asyncProperty(
    ...anyTrace,
    boundedTrace(async (setup, options, steps) => {
      const trace = new Trace(rate, setup, options);
      for (const { afterUs, process, requests } of steps) {
        trace.advance(afterUs);
        // oxlint-disable-next-line no-await-in-loop -- a trace is a sequence
        await trace.ask(process, requests);
      }
      await trace.end();
      // What was not spent is back: a window has left what one limiter would have.
      if (rate.endsWith('Window')) expect(await trace.left()).toBe(trace.available);
    }),
  );
  await fc.assert(property, { numRuns });
});

test.each(RATES)('who is refused by a %s is granted when he was told, unless others came', async (rate) => {
  const property = fc.asyncProperty(
    ...anyTrace,
    boundedTrace(async (setup, options, steps) => {
      const trace = new Trace(rate, setup, { ...options, refusalCacheMs: 0 } as typeof options);
      for (const { afterUs, process, requests } of steps) {
        trace.advance(afterUs);
        // oxlint-disable-next-line no-await-in-loop -- a trace is a sequence
        const leases = await trace.ask(process, requests);
        const last = leases.at(-1)!;
        if (last.isAcquired) continue;
        trace.advance((last.getMetadata('RETRY_AFTER') as number) * 1_000);
        // oxlint-disable-next-line no-await-in-loop
        const [again] = await trace.ask(process, [requests.at(-1)!]);
        expect(again!.isAcquired).toBe(true);
      }
      await trace.end();
    }),
  );
  await fc.assert(property, { numRuns });
});

test.each(RATES)('of a %s others refuse no more than what processes may hold', async (rate) => {
  const property = fc.asyncProperty(
    ...anyTrace,
    boundedTrace(async (setup, options, steps) => {
      const trace = new Trace(rate, setup, options);
      const held =
        (PROCESSES - 1) * options.reserveAhead +
        (rate.endsWith('Window') ? 0 : PROCESSES * options.reserveAhead);
      for (const { afterUs, process, requests } of steps) {
        trace.advance(afterUs);
        // oxlint-disable-next-line no-await-in-loop -- a trace is a sequence
        const leases = await trace.ask(process, requests);
        const least = Math.min(
          ...leases.map((lease, index) => (lease.isAcquired ? Infinity : Math.max(1, requests[index]!))),
        );
        if (least < Infinity) expect(trace.available).toBeLessThan(Math.min(least, setup.limit) + held);
      }
      await trace.end();
    }),
  );
  await fc.assert(property, { numRuns });
});

test.each(['greedyBucket', 'intervalBucket'] as const)(
  'a %s gets back all of a reserve that nobody spent, though time has brought back as much as was missing then',
  async (rate) => {
    const setup = { limit: 10, tokens: 1, windowUs: 50_000, segments: 1 };
    const trace = new Trace(rate, setup, { reserveAhead: 1 });
    await trace.ask(0, [1]);
    await trace.ask(0, [1]);
    // 3 are missing, one of them reserved. Time pays for what was taken first: in 150 ms for all three.
    trace.advance(100_000);
    await trace.ask(1, [9]);
    // The reserve is void: of the 11 that were spent 10 are back, and the bucket was never full.
    trace.advance(400_000);
    await trace.end();
    expect(await trace.left()).toBe(9);
  },
);
