import type { RateLimitLease } from '../index.js';
import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
} from '../index.js';
import { perGroup, Session, stateOf, visit, VisitLimiter } from '../../conformance/linked/visits.js';
import { FakeClock } from '../testing/index.js';

const OPTIONS = { permitLimit: 1, queueLimit: 5 };

/** A clock at whose next reading something happens. */
class MeddlingClock extends FakeClock {
  happen: (() => void) | null = null;

  override now(): number {
    const { happen } = this;
    this.happen = null;
    happen?.();
    return super.now();
  }
}

/** A session that gets its lease by other ways when it has been asked for it so often. */
class ForeseeingSession extends Session {
  questions = 0;
  readonly #foreseen: { readonly lease: RateLimitLease; readonly after: number };

  constructor(lease: RateLimitLease, after: number) {
    super();
    this.#foreseen = { lease, after };
  }

  protected override tryGetLease(): RateLimitLease | undefined {
    const { lease, after } = this.#foreseen;
    return this.questions++ >= after ? lease : super.tryGetLease();
  }
}

describe('a request that gets what it needs while it enters a queue', () => {
  it.each([
    ['of a limiter', (limiter: ConcurrencyLimiter) => limiter],
    [
      'of a chain’s member',
      (limiter: ConcurrencyLimiter) => createChainedRateLimiter(new ConcurrencyLimiter(OPTIONS), limiter),
    ],
  ])('doesn’t wait for it: in the queue %s', async (_, around) => {
    const clock = new MeddlingClock();
    const limiter = new ConcurrencyLimiter({ ...OPTIONS, clock });
    limiter.attemptAcquire();
    clock.happen = () => limiter.reset();
    // No other reading than that for the end of its time.
    expect(await stateOf(around(limiter).acquire(1, { maxWaitMs: 100 }))).toBe('granted');
    expect(clock.pendingTimers).toBe(0);
  });

  it('doesn’t wait for it: in the queue of a session, of which nothing stays behind', async () => {
    const outcomes: unknown[] = [];
    for (let after = 0; after < 8; after++) {
      const base = perGroup(1, { queueLimit: 5 });
      base.attemptAcquire(visit(null));
      const lease = perGroup(1).attemptAcquire(visit(null));
      const chain = createChainedPartitionedRateLimiter(perGroup(1), new VisitLimiter(base));
      const session = new ForeseeingSession(lease, after);
      const request = chain.acquire(visit(session));
      // oxlint-disable-next-line no-await-in-loop -- one case after the other
      const state = await stateOf(request);
      outcomes.push([state, session.questions > after, base.getStatistics(visit(null))!.currentQueuedCount]);
    }
    expect(outcomes).toContainEqual(['granted', true, 0]);
    for (const outcome of outcomes)
      expect([
        ['granted', true, 0],
        ['pending', false, 1],
      ]).toContainEqual(outcome);
  });
});
