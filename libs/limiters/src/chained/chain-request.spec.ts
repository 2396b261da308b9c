import {
  chainParticipants,
  ConcurrencyLimiter,
  createChainedRateLimiter,
  FixedWindowRateLimiter,
  MetadataName,
  TokenBucketRateLimiter,
} from '../index.js';
import type { ChainParticipant, ConcurrencyLimiterOptions, RateLimitLease } from '../index.js';
import { FakeClock } from '../testing/index.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function follow(promise: Promise<RateLimitLease>): { lease?: RateLimitLease } {
  const progress: { lease?: RateLimitLease } = {};
  void promise.then((lease) => (progress.lease = lease));
  return progress;
}

const reasonOf = (lease: RateLimitLease | undefined): string | undefined =>
  lease?.getMetadata(MetadataName.reasonPhrase);

function running(permitLimit: number, more: Partial<ConcurrencyLimiterOptions> = {}): ConcurrencyLimiter {
  return new ConcurrencyLimiter({ permitLimit, queueLimit: 10, clock: new FakeClock(), ...more });
}

describe('a limiter that stands twice in a chain', () => {
  it('is waited for with twice the permits', async () => {
    const [one, two] = [running(1), running(4)];
    const held = [one.attemptAcquire(), two.attemptAcquire(2), two.attemptAcquire()];
    const request = follow(createChainedRateLimiter(one, two, two).acquire());
    held[0]!.dispose();
    await settled();
    expect(request.lease).toBeUndefined();
    expect(two.getStatistics()).toMatchObject({ currentAvailablePermits: 1, currentQueuedCount: 2 });
    held[2]!.dispose();
    await settled();
    expect(request.lease?.isAcquired).toBe(true);
    expect(two.getStatistics().currentAvailablePermits).toBe(0);
  });

  it('refuses what has no room for twice the permits, at first or when it comes from elsewhere', async () => {
    const [one, two] = [running(1), running(4, { queueLimit: 1 })];
    const chain = createChainedRateLimiter(one, two, two);
    two.attemptAcquire(3);
    expect(reasonOf(await chain.acquire())).toBe('Queue limit reached');
    const held = one.attemptAcquire();
    const request = follow(chain.acquire());
    held.dispose();
    await settled();
    expect(reasonOf(request.lease)).toBe('Queue limit reached');
  });

  it('tells when it would have twice the permits', () => {
    const clock = new FakeClock();
    const rate = new TokenBucketRateLimiter({
      tokenLimit: 4,
      tokensPerPeriod: 1,
      replenishmentPeriodMs: 100,
      clock,
    });
    const chain = createChainedRateLimiter(rate, rate);
    rate.attemptAcquire(4);
    expect(chain.attemptAcquire(2).getMetadata(MetadataName.retryAfter)).toBe(400);
    expect(() => chain.attemptAcquire(3)).toThrow(/limit of 2/);
  });

  it('is too small for a request once its limit is lowered under twice the permits', async () => {
    const [one, two] = [running(2), running(4)];
    const held = one.attemptAcquire(2);
    const request = follow(createChainedRateLimiter(one, two, two).acquire(2));
    two.updateOptions({ permitLimit: 3 });
    held.dispose();
    await settled();
    expect(reasonOf(request.lease)).toBe('Limit lowered');
  });
});

describe('a request at its turn', () => {
  const newestFirst = { queueProcessingOrder: 'newestFirst' } as const;
  const window = (clock: FakeClock, permitLimit = 2): FixedWindowRateLimiter =>
    new FixedWindowRateLimiter({ permitLimit, windowMs: 100, queueLimit: 10, clock });

  it('stays where it is when the waiters of another limiter have taken what it came for', async () => {
    const clock = new FakeClock();
    const [work, rate] = [running(1, { clock, ...newestFirst }), window(clock, 1)];
    const held = createChainedRateLimiter(work, rate).attemptAcquire();
    const first = follow(createChainedRateLimiter(work, rate).acquire());
    const second = follow(createChainedRateLimiter(rate, work).acquire());
    // The event loop is blocked over the boundary: what is due is found out at the turn of the first.
    clock.skip(100);
    held.dispose();
    await settled();
    expect([first.lease, second.lease?.isAcquired]).toEqual([undefined, true]);
    expect(work.getStatistics()).toMatchObject({ currentAvailablePermits: 0, currentQueuedCount: 1 });
    clock.advance(100);
    second.lease!.dispose();
    await settled();
    expect(first.lease?.isAcquired).toBe(true);
  });

  it('stays where it is when another has come before it', async () => {
    const clock = new FakeClock();
    const [work, rate] = [running(2, { clock, ...newestFirst }), window(clock)];
    const held = [work.attemptAcquire(), work.attemptAcquire()];
    rate.attemptAcquire(2);
    const first = follow(createChainedRateLimiter(work, rate).acquire(1));
    const second = follow(createChainedRateLimiter(rate, work).acquire(2));
    clock.skip(100);
    held[0]!.dispose();
    await settled();
    // The second has moved here, is the newest, and wants more than is free: it blocks the other.
    expect([first.lease, second.lease]).toEqual([undefined, undefined]);
    expect(work.getStatistics()).toMatchObject({ currentAvailablePermits: 1, currentQueuedCount: 3 });
    expect(rate.getStatistics().currentAvailablePermits).toBe(2);
  });

  it('takes nothing when another has displaced it', async () => {
    const clock = new FakeClock();
    const [work, rate] = [running(2, { clock, queueLimit: 2, ...newestFirst }), window(clock)];
    const held = [work.attemptAcquire(), work.attemptAcquire()];
    rate.attemptAcquire(2);
    const first = follow(createChainedRateLimiter(work, rate).acquire(1));
    const second = follow(createChainedRateLimiter(rate, work).acquire(2));
    clock.skip(100);
    held[0]!.dispose();
    await settled();
    expect(reasonOf(first.lease)).toBe('Evicted by a newer request');
    expect(second.lease).toBeUndefined();
    expect(rate.getStatistics()).toMatchObject({ currentAvailablePermits: 2, totalSuccessfulLeases: 1 });
  });
});

describe('a request with a limit on its wait', () => {
  it('has what is left of it in the next queue, by the clock of that limiter', async () => {
    const [clock, other] = [new FakeClock(5_000), new FakeClock(900)];
    const [one, two] = [running(1, { clock }), running(1, { clock: other })];
    const held = one.attemptAcquire();
    two.attemptAcquire();
    const request = follow(createChainedRateLimiter(one, two).acquire(1, { maxWaitMs: 100 }));
    clock.advance(60);
    held.dispose();
    clock.advance(1_000);
    other.advance(39);
    await settled();
    expect(request.lease).toBeUndefined();
    other.advance(1);
    await settled();
    expect(reasonOf(request.lease)).toBe('Wait limit reached');
  });
});

describe('a request that keeps what it gets', () => {
  /** It was passed over four times, and waits for the first before everybody else. */
  async function passedOver(permits = 1) {
    const [one, two] = [running(permits), running(permits)];
    let [ofOne, ofTwo] = [one.attemptAcquire(permits), two.attemptAcquire(permits)];
    const request = follow(createChainedRateLimiter(one, two).acquire(permits));
    for (let turn = 0; turn < 2; turn++) {
      ofOne.dispose();
      ofOne = one.attemptAcquire(permits);
      ofTwo.dispose();
      ofTwo = two.attemptAcquire(permits);
    }
    await settled();
    expect(request.lease).toBeUndefined();
    return { one, two, ofOne, ofTwo, request };
  }

  it('gives it back when another limiter has ended', async () => {
    const { one, two, ofOne, ofTwo, request } = await passedOver();
    ofTwo.dispose();
    two.dispose();
    ofOne.dispose();
    await settled();
    expect(reasonOf(request.lease)).toBe('Limiter disposed');
    expect(one.getStatistics()).toMatchObject({ currentAvailablePermits: 1, currentQueuedCount: 0 });
  });

  it('gives it back when the limit of another was lowered under what it asks for', async () => {
    const { one, two, ofOne, request } = await passedOver(2);
    two.updateOptions({ permitLimit: 1 });
    ofOne.dispose();
    await settled();
    expect(reasonOf(request.lease)).toBe('Limit lowered');
    expect(one.getStatistics()).toMatchObject({ currentAvailablePermits: 2, currentQueuedCount: 0 });
  });

  it('does so after four turns, not before', async () => {
    const { one, two, ofOne, ofTwo, request } = await passedOver();
    ofOne.dispose();
    await settled();
    expect(one.getStatistics().currentAvailablePermits).toBe(0);
    expect(one.attemptAcquire().isAcquired).toBe(false);
    ofTwo.dispose();
    await settled();
    expect(request.lease?.isAcquired).toBe(true);
    const again = follow(createChainedRateLimiter(one, two).acquire());
    request.lease!.dispose();
    await settled();
    expect(again.lease?.isAcquired).toBe(true);
  });
});

describe('a member whose taking ends the chain', () => {
  it('has given nothing away: the request has ended before', async () => {
    const [one, two] = [running(1), running(1)];
    const held = one.attemptAcquire();
    const own = (two as unknown as Record<symbol, () => ChainParticipant[]>)[chainParticipants]!()[0]!;
    const ending = new Proxy(own, {
      get: (_target, name) => {
        if (name === 'take') chain.dispose();
        const value: unknown = Reflect.get(own, name, own);
        return typeof value === 'function' ? value.bind(own) : value;
      },
    });
    const member = new Proxy(two, {
      get: (_target, name) => (name === chainParticipants ? () => [ending] : Reflect.get(two, name, two)),
    });
    const chain = createChainedRateLimiter(one, member);
    const request = follow(chain.acquire());
    held.dispose();
    await settled();
    expect(reasonOf(request.lease)).toBe('Limiter disposed');
    expect([one, two].map((limiter) => limiter.getStatistics().currentAvailablePermits)).toEqual([1, 1]);
  });
});

describe('a member that serves the newest first', () => {
  it('lets no newcomer overtake a request that keeps what it gets, and displaces none', async () => {
    const newest = { queueProcessingOrder: 'newestFirst', queueLimit: 2 } as const;
    const [one, two] = [running(2), running(2, newest)];
    let [ofOne, ofTwo] = [one.attemptAcquire(2), two.attemptAcquire(2)];
    const request = follow(createChainedRateLimiter(one, two).acquire(2));
    for (let turn = 0; turn < 2; turn++) {
      ofOne.dispose();
      ofOne = one.attemptAcquire(2);
      ofTwo.dispose();
      ofTwo = two.attemptAcquire(turn === 0 ? 2 : 1);
    }
    ofOne.dispose();
    await settled();
    // It has all of the first, and waits for both of the second, of which one is free.
    expect(two.getStatistics()).toMatchObject({ currentAvailablePermits: 1, currentQueuedCount: 2 });
    expect(two.attemptAcquire().isAcquired).toBe(false);
    expect(reasonOf(await two.acquire())).toBe('Queue limit reached');
    ofTwo.dispose();
    await settled();
    expect(request.lease?.isAcquired).toBe(true);
  });
});
