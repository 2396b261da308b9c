import type { RateLimitLease } from '@ratelease/limiters';
import * as fc from 'fast-check';
import { createRedisPartitions } from '../../src/index.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { boundedTrace } from '../../../../test/traces/bounded-trace.js';

const LIMIT = 12;
const HOUR = 3_600_000;

/** One request of a turn: of which key, for how many, and when it is aborted. */
interface Ask {
  readonly key: number;
  readonly permits: number;
  readonly abort: 'never' | 'at once' | 'in this turn' | 'in the next' | 'later';
}

const anyTurns = (aborts: readonly Ask['abort'][]): fc.Arbitrary<Ask[][]> =>
  fc.array(
    fc.array(
      fc.record({
        // Few keys that come again and again, and many: more than go in one call, and than are sent at once.
        key: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 150 })),
        permits: fc.integer({ min: 0, max: 3 }),
        abort: fc.constantFrom(...aborts),
      }),
      { minLength: 1, maxLength: 400 },
    ),
    { minLength: 1, maxLength: 4 },
  );

const server = TestServer.forThisFile();

describe.each(CLIENTS)('through $name', ({ open, name }) => {
  let opened: OpenClient;
  let rounds = 0;
  beforeAll(async () => {
    opened = await open(server.port);
  });
  afterAll(() => opened.close());

  /** What the turns asked for, once all is settled, with the requests of each key in their order. */
  async function play(
    turns: readonly (readonly Ask[])[],
    batching: boolean,
    each: (key: number, permits: number, outcome: RateLimitLease | undefined) => void,
  ): Promise<{ readonly prefix: string; end(): Promise<void> }> {
    const prefix = `${name}-${rounds++}`;
    const shared = createRedisPartitions({
      ...{ client: opened.client, prefix, batching, commandTimeoutMs: 30_000 },
    });
    const settled: Promise<void>[] = [];
    for (const [index, turn] of turns.entries()) {
      // What is unknown to the server is sent twice, and must not be overtaken.
      if (index === 1) void server.client.script('FLUSH', 'SYNC');
      for (const { key, permits, abort } of turn) {
        const controller = new AbortController();
        const limiter = limiterOf(
          shared.getFixedWindowLimiter(`${key}`, () => ({ permitLimit: LIMIT, windowMs: HOUR })),
        );
        const asked = limiter.acquire(permits, { signal: controller.signal });
        settled.push(
          asked.then(
            (lease) => each(key, permits, lease),
            () => each(key, permits, undefined),
          ),
        );
        if (abort === 'at once') controller.abort();
        else if (abort === 'in this turn') queueMicrotask(() => controller.abort());
        else if (abort === 'in the next') setImmediate(() => controller.abort());
        else if (abort === 'later') setTimeout(() => controller.abort(), 1);
        // Its waits end, but it has none: what it asked is answered.
        if (permits === 3) void limiter.dispose?.();
      }
      // oxlint-disable-next-line no-await-in-loop -- the next turn, while answers are on their way
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(settled);
    return { prefix, end: () => shared.dispose() };
  }

  /** The permits that the server counts of each key. */
  async function usedOf(prefix: string, key: number): Promise<number> {
    const fields = Object.entries(await server.client.hgetall(`${prefix}:v1:{${key}}`));
    return Number(fields.find(([field]) => field.endsWith(':u'))?.[1] ?? 0);
  }

  test.each([true, false])(
    'requests of one key are decided in their order, whatever is sent early (batching: %s)',
    async (batching) => {
      const property = fc.asyncProperty(
        anyTurns(['never']),
        boundedTrace(async (turns) => {
          const left = new Map<number, number>();
          const played = await play(turns, batching, (key, permits, lease) => {
            const before = left.get(key) ?? LIMIT;
            const fits = permits === 0 ? before >= 1 : before >= permits;
            expect(lease!.isAcquired).toBe(fits);
            left.set(key, fits ? before - permits : before);
          });
          await played.end();
        }),
      );
      await fc.assert(property, { numRuns: 25 });
    },
  );

  test.each([true, false])(
    'none is lost or counted twice where requests are aborted at any moment (batching: %s)',
    async (batching) => {
      const aborts = ['never', 'never', 'at once', 'in this turn', 'in the next', 'later'] as const;
      const property = fc.asyncProperty(
        anyTurns(aborts),
        boundedTrace(async (turns) => {
          const granted = new Map<number, number>();
          const keys = new Set(turns.flat().map(({ key }) => key));
          let told = 0;
          const { prefix, end } = await play(turns, batching, (key, permits, lease) => {
            told++;
            if (lease?.isAcquired === true) granted.set(key, (granted.get(key) ?? 0) + permits);
          });
          expect(told).toBe(turns.flat().length);
          for (const key of keys) {
            const expected = granted.get(key) ?? 0;
            // What was granted to those who had gone is given back in the background.
            let used = NaN;
            for (let tries = 0; tries < 2_000 && used !== expected; tries++)
              // oxlint-disable-next-line no-await-in-loop -- until it is so
              used = await usedOf(prefix, key);
            expect(used).toBe(expected);
          }
          await end();
        }),
      );
      await fc.assert(property, { numRuns: 25 });
    },
  );
});
