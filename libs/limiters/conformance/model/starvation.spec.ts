import * as fc from 'fast-check';
import { ConcurrencyLimiter, createChainedRateLimiter, FixedWindowRateLimiter } from '../../src/index.js';
import type { RateLimiter } from '../../src/index.js';
import type { WatchedRequest } from './watched-limiters.js';
import { Watch } from './watched-limiters.js';

/** Requests that wait at each member on their own, and of each chain, at any time. */
const PATIENT = 4;
/** A request is passed over four times at most, then it reserves; each time it waits behind a whole queue. */
const MOST_QUEUES = 6;

/** Keeps every member and every chain asked for more than there is, and notes for how long requests of chains wait. */
class Saturation {
  readonly watch = new Watch();
  turn = 0;
  longestWait = 0;
  served = 0;
  readonly #members: RateLimiter[];
  readonly #chains: RateLimiter[];
  readonly #since = new Map<WatchedRequest, number>();

  constructor(create: (watch: Watch) => RateLimiter[]) {
    this.#members = create(this.watch);
    this.#chains = [this.#members, [...this.#members].reverse()].map((order) =>
      createChainedRateLimiter(...order),
    );
  }

  /** The most turns that anybody may wait: the queues that it stands in, as long as all requests together. */
  get bound(): number {
    return MOST_QUEUES * PATIENT * (this.#members.length + this.#chains.length);
  }

  async run(picks: readonly number[]): Promise<void> {
    for (const pick of picks) {
      this.turn++;
      // oxlint-disable-next-line no-await-in-loop -- turn by turn
      await this.#fillUp();
      // What a rate has granted has nothing to give back: one turn ends the work of another lease.
      for (const request of this.watch.holding)
        request.isDisposed = request.limiter instanceof FixedWindowRateLimiter;
      // oxlint-disable-next-line no-await-in-loop
      await this.watch.disposeOne(pick);
      // oxlint-disable-next-line no-await-in-loop
      await this.watch.advance(1);
      this.#note();
    }
  }

  async #fillUp(): Promise<void> {
    for (const limiter of [...this.#members, ...this.#chains]) {
      const waiting = this.watch.waiting.filter((request) => request.limiter === limiter);
      for (let more = waiting.length; more < PATIENT; more++) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const request = await this.watch.acquire(limiter, 1);
        this.#since.set(request, this.turn);
      }
    }
  }

  #note(): void {
    for (const [request, since] of this.#since) {
      if (this.#members.includes(request.limiter)) continue;
      this.longestWait = Math.max(this.longestWait, this.turn - since);
      if (request.status === 'waiting') continue;
      this.served++;
      this.#since.delete(request);
    }
  }
}

const MEMBERS: Record<string, (watch: Watch) => RateLimiter[]> = {
  'two concurrency limiters': ({ clock }) =>
    [1, 2].map(() => new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 100, clock })),
  'three concurrency limiters': ({ clock }) =>
    [1, 2, 3].map(() => new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 100, clock })),
  'a concurrency limiter and a window of one turn': ({ clock }) => [
    new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 100, clock }),
    new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1, queueLimit: 100, clock }),
  ],
};

describe.each(Object.entries(MEMBERS))('while all of %s are saturated', (_members, create) => {
  it('every request of a chain is served within a bounded number of turns', async () => {
    const anyPicks = fc.array(fc.nat({ max: 99 }), { minLength: 300, maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(anyPicks, async (picks) => {
        const saturation = new Saturation(create);
        await saturation.run(picks);
        expect(saturation.longestWait).toBeLessThanOrEqual(saturation.bound);
        expect(saturation.served).toBeGreaterThan(0);
      }),
      { numRuns: 10 },
    );
  });
});
