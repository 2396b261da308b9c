import * as fc from 'fast-check';
import type { Member } from './chain-trial.js';
import { ChainTrial } from './chain-trial.js';
import type { Setup } from './limiter-setups.js';
import { anySetup, KINDS } from './limiter-setups.js';
import type { WatchedRequest } from './watched-limiters.js';

/** Two members with the same limit: any limiter, and one of what runs at once. */
export const anyReservingMembers: fc.Arbitrary<[Member, Member]> = fc
  .record({ kind: fc.constantFrom(...KINDS), setup: anySetup, limit: fc.integer({ min: 1, max: 3 }) })
  .map(({ kind, setup, limit }) => {
    const scarce = { ...setup, limit, queueLimit: 100, queueProcessingOrder: 'oldestFirst' as const };
    return [
      { kind, setup: scarce },
      { kind: 'concurrency', setup: scarce },
    ];
  });

/** A chain request that was passed over at its turn until it reserves: it has all of the first member, and waits for the second. */
export class ReservingTrial extends ChainTrial {
  request: WatchedRequest | undefined;

  async begin(): Promise<WatchedRequest> {
    const [first, second] = this.members as unknown as [(typeof this.members)[0], (typeof this.members)[0]];
    const { limit } = first.setup;
    const take = (member: typeof first): WatchedRequest => this.watch.attempt(member.limiter, limit);
    const giveBack = async (request: WatchedRequest): Promise<void> => {
      await this.watch.dispose(request);
      if (request.limiter === first.limiter) await this.watch.advance(refillMs(first.setup));
    };
    let ofFirst = take(first);
    let ofSecond = take(second);
    const request = await this.watch.acquire(this.chains[0]!, limit);
    for (let turn = 0; turn < 2; turn++) {
      // oxlint-disable-next-line no-await-in-loop -- at its turn in the first it finds the second taken ...
      await giveBack(ofFirst);
      ofFirst = take(first);
      // oxlint-disable-next-line no-await-in-loop -- ... and the other way round
      await giveBack(ofSecond);
      ofSecond = take(second);
    }
    await giveBack(ofFirst);
    this.request = request;
    return request;
  }
}

/** Milliseconds after which all permits of a rate are back. */
function refillMs({ limit, segmentMs, segments, tokensPerPeriod, periodMs }: Setup): number {
  return Math.max(segmentMs * segments, Math.ceil(limit / tokensPerPeriod) * periodMs, limit * periodMs);
}
