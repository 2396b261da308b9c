import * as fc from 'fast-check';
import { createChainedRateLimiter, ReplenishingRateLimiter } from '../../src/index.js';
import type { RateLimiter } from '../../src/index.js';
import type { Kind, Setup } from './limiter-setups.js';
import { createLimiter, KINDS } from './limiter-setups.js';
import { picked } from './trace.js';
import type { WatchedRequest } from './watched-limiters.js';
import { Watch } from './watched-limiters.js';

/** Requests that wait at each member on their own, and of each chain, at any time. */
const PATIENT = 4;
/** A request is passed over four times at most, then it reserves; each time it waits behind a whole queue. */
const MOST_QUEUES = 6;

/** The members, and a turn: the time in which each rate gives back what it has. */
interface Scarce {
  readonly members: readonly { readonly kind: Kind; readonly setup: Setup }[];
  readonly turnMs: number;
}

const anyMember = fc.record({
  kind: fc.constantFrom(...KINDS),
  limit: fc.integer({ min: 1, max: 2 }),
  tokensPerPeriod: fc.integer({ min: 1, max: 2 }),
  segments: fc.integer({ min: 1, max: 4 }),
});

/** All members are as slow as each other: a faster one would serve all who wait, and not be saturated. */
const anyScarce: fc.Arbitrary<Scarce> = fc
  .record({
    turnMs: fc.integer({ min: 1, max: 3 }),
    members: fc.array(anyMember, { minLength: 2, maxLength: 3 }),
  })
  .map(({ turnMs, members }) => ({
    turnMs,
    members: members.map(({ kind, ...numbers }) => ({
      kind,
      setup: {
        ...numbers,
        segmentMs: kind === 'slidingWindow' ? turnMs / numbers.segments : turnMs,
        periodMs: turnMs,
        queueLimit: 100,
        queueProcessingOrder: 'oldestFirst' as const,
      },
    })),
  }));

/** Keeps every member and every chain asked for more than there is, and notes for how long requests of chains wait. */
class Saturation {
  readonly watch = new Watch();
  turn = 0;
  longestWait = 0;
  served = 0;
  readonly #members: RateLimiter[];
  readonly #chains: RateLimiter[];
  readonly #turnMs: number;
  readonly #since = new Map<WatchedRequest, number>();

  constructor({ members, turnMs }: Scarce) {
    this.#turnMs = turnMs;
    this.#members = members.map(({ kind, setup }) => createLimiter(kind, setup, this.watch.clock));
    this.#chains = [this.#members, [...this.#members].reverse()].map((order) =>
      createChainedRateLimiter(...order),
    );
  }

  /** The most turns that anybody may wait: in each queue stand who asks the member itself, and who asks a chain. */
  get bound(): number {
    return MOST_QUEUES * PATIENT * (1 + this.#chains.length);
  }

  async run(picks: readonly number[]): Promise<void> {
    for (const pick of picks) {
      this.turn++;
      // oxlint-disable-next-line no-await-in-loop -- turn by turn
      await this.#fillUp();
      // oxlint-disable-next-line no-await-in-loop
      await this.#endWork(pick);
      // oxlint-disable-next-line no-await-in-loop
      await this.watch.advance(this.#turnMs);
      this.#note();
    }
  }

  /** In a turn each member gets something back: a rate by time, every other one by the end of a lease. */
  async #endWork(pick: number): Promise<void> {
    for (const member of this.#members) {
      if (member instanceof ReplenishingRateLimiter) continue;
      const holding = this.watch.holding.filter(
        ({ limiter }) => limiter === member || this.#chains.includes(limiter),
      );
      const ending = picked(holding, pick);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      if (ending !== undefined) await this.watch.dispose(ending);
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

describe('while all of two or three limiters of any kind are saturated', () => {
  it('every request of a chain is served within a bounded number of turns', async () => {
    const anyPicks = fc.array(fc.nat({ max: 99 }), { minLength: 200, maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(anyScarce, anyPicks, async (scarce, picks) => {
        const saturation = new Saturation(scarce);
        await saturation.run(picks);
        expect(saturation.longestWait).toBeLessThanOrEqual(saturation.bound);
        expect(saturation.served).toBeGreaterThan(0);
      }),
      { numRuns: 40 },
    );
  });
});
