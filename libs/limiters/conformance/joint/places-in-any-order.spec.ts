import * as fc from 'fast-check';
import type { AsyncPartitionedRateLimiter } from '../../src/index.js';
import { ConcurrencyLimiter } from '../../src/index.js';
import { partitionedAlways } from './remote-limiters.js';
import { chainOf, SlotsElsewhere, soon, until } from './slots-elsewhere.js';

type Chain = AsyncPartitionedRateLimiter<string>;

describe('requests for any limiters of several places, in any order', () => {
  const NAMES = ['a', 'b', 'c', 'here', 'beside'];
  /** Of these, how many are in this process. */
  const HERE = 2;
  const PERMITS = 2;
  /** Answers of the places for each request. */
  const MOST_ANSWERS = 25;
  const anyRequest = fc.record({
    names: fc.shuffledSubarray(NAMES, { minLength: 1 }),
    permits: fc.integer({ min: 1, max: PERMITS }),
    worksFor: fc.nat(4),
    pause: fc.nat(2),
    /** Not at all where that is longer than 10. */
    leavesAfter: fc.nat(40),
    loses: fc.boolean(),
  });
  type Request = typeof anyRequest extends fc.Arbitrary<infer Of> ? Of : never;

  async function turns(count: number): Promise<void> {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (let left = count; left > 0; left--) await soon();
  }

  /** The limiters of a trace, and what they have answered. */
  class Trace {
    readonly log: string[] = [];
    readonly #elsewhere = NAMES.slice(0, -HERE).map(
      (name) => new SlotsElsewhere(name, { permitLimit: PERMITS, log: this.log }),
    );
    readonly #here = NAMES.slice(-HERE).map(
      () => new ConcurrencyLimiter({ permitLimit: PERMITS, queueLimit: 100 }),
    );
    readonly #partitioned = new Map<string, Chain>(
      [...this.#elsewhere, ...this.#here].map((limiter, index) => [
        NAMES[index]!,
        partitionedAlways(limiter),
      ]),
    );

    get standing(): (readonly [free: number, waiting: number])[] {
      const here = this.#here.map((limiter) => limiter.getStatistics());
      const all = [...this.#elsewhere.map(({ statistics }) => statistics), ...here];
      return all.map((one) => [one.currentAvailablePermits, one.currentQueuedCount]);
    }

    async run({ names, permits, worksFor, leavesAfter, loses }: Request): Promise<void> {
      const chain = chainOf(...names.map((name) => this.#partitioned.get(name)!));
      const leaving = new AbortController();
      if (leavesAfter <= 10) void turns(leavesAfter).then(() => leaving.abort(new Error('left')));
      const asked = chain.acquire('', permits, { signal: leaving.signal });
      const lease = await asked.catch((error: Error) => expect(error.message).toBe('left'));
      if (lease === undefined) return;
      expect(lease.isAcquired).toBe(true);
      await turns(worksFor);
      if (loses) this.#elsewhere.find(({ name }) => names.includes(name))?.last?.lose(new Error('lost'));
      lease.dispose();
    }

    async end(): Promise<void> {
      for (const limiter of this.#partitioned.values()) await limiter.dispose();
    }
  }

  it('are all served, within bounds, and nothing is left behind', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRequest, { minLength: 5, maxLength: 30 }), async (requests) => {
        const trace = new Trace();
        let open = requests.length;
        const ends: Promise<void>[] = [];
        for (const request of requests) {
          ends.push(trace.run(request).finally(() => open--));
          // oxlint-disable-next-line no-await-in-loop -- they come one after the other
          await turns(request.pause);
        }
        await until(() => open === 0);
        await Promise.all(ends);
        expect(trace.standing).toEqual(NAMES.map(() => [PERMITS, 0]));
        expect(trace.log.length / requests.length).toBeLessThan(MOST_ANSWERS);
        await trace.end();
      }),
      { numRuns: 200 },
    );
  });
});
