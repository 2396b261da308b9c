import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  RateLimitPartition,
  TokenBucketRateLimiter,
} from '../index.js';
import type { RateLimiter, RateLimitLease } from '../index.js';
import { FailingClock } from '../../conformance/faults/failing-clock.js';

const window = { permitLimit: 1, windowMs: 1_000, queueLimit: 5 };

describe('a wait for which the clock can set no timer', () => {
  it('does not begin, and takes nothing later', async () => {
    const clock = new FailingClock();
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1, clock });
    const held = limiter.attemptAcquire();
    // For the deadline, for the timer, and to set it.
    for (const readings of [0, 1, 2]) {
      clock.failsAfter = readings === 2 ? Infinity : readings;
      clock.setsNoTimers = readings === 2;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(limiter.acquire(1, { maxWaitMs: 500 })).rejects.toThrow('The clock fails.');
      clock.failsAfter = Infinity;
      clock.setsNoTimers = false;
      expect(limiter.getStatistics().currentQueuedCount).toBe(0);
    }
    held.dispose();
    expect(limiter.getStatistics().currentAvailablePermits).toBe(1);
  });

  it.each(['oldestFirst', 'newestFirst'] as const)(
    'takes no timer from those who wait already (%s)',
    async (queueProcessingOrder) => {
      const clock = new FailingClock();
      const bucket = { tokenLimit: 5, tokensPerPeriod: 1, replenishmentPeriodMs: 100, queueLimit: 9, clock };
      for (const limiter of [
        new TokenBucketRateLimiter({ ...bucket, queueProcessingOrder }),
        new ConcurrencyLimiter({ permitLimit: 5, queueLimit: 9, queueProcessingOrder, clock }),
      ]) {
        limiter.attemptAcquire(5);
        const waiting = limiter.acquire(5, { maxWaitMs: 500 });
        clock.setsNoTimers = true;
        // Each would have to go before the one that waits: for it is the turn, or its time is over.
        const late = limiter.acquire(1, { maxWaitMs: 400 });
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await late.catch((error: Error) => expect(error.message).toBe('The clock fails.'));
        clock.setsNoTimers = false;
        clock.advance(500);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        expect((await waiting).isAcquired).toBe(limiter instanceof TokenBucketRateLimiter);
        expect(clock.pendingTimers).toBe(0);
      }
    },
  );

  it('is an error where the clock calls back at once', async () => {
    const clock = new FailingClock();
    const limiter = new FixedWindowRateLimiter({ ...window, clock });
    limiter.attemptAcquire();
    clock.callsBackAtOnce = true;
    await expect(limiter.acquire()).rejects.toMatchObject({
      code: 'ERR_RL_INVALID_TIME',
      message: 'setTimer() of a clock must return before it calls back, but it called back at once.',
    });
    expect(limiter.getStatistics().currentQueuedCount).toBe(0);
  });
});

describe('a clock that fails in the callback of a timer', () => {
  it('leaves nobody waiting once it is well again', async () => {
    const clock = new FailingClock();
    const limiter = new FixedWindowRateLimiter({ ...window, clock });
    limiter.attemptAcquire();
    const waiting = limiter.acquire();
    clock.advance(999);
    clock.failsAfter = 0;
    expect(() => clock.advance(1)).toThrow('The clock fails.');
    clock.failsAfter = Infinity;
    clock.advance(100);
    expect((await waiting).isAcquired).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('sets no timer where nobody is left who waits', async () => {
    const clock = new FailingClock();
    const limiter = new FixedWindowRateLimiter({ ...window, clock });
    limiter.attemptAcquire();
    const waiting = limiter.acquire();
    clock.advance(999);
    // Of the two readings, the one for those whose time may be over comes after the grant.
    clock.failsAfter = 1;
    expect(() => clock.advance(1)).toThrow('The clock fails.');
    expect((await waiting).isAcquired).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not keep partitions for ever', () => {
    for (const readings of [0, 1, 2]) {
      const clock = new FailingClock();
      const limiter = createPartitionedRateLimiter(
        (key: number) => RateLimitPartition.getFixedWindowLimiter(key, () => window),
        { clock, idleTimeoutMs: 0, maxPartitions: 3 },
      );
      for (const key of [1, 2, 3]) limiter.attemptAcquire(key);
      clock.advance(1_000);
      clock.failsAfter = readings;
      expect(() => clock.advance(200)).toThrow('The clock fails.');
      clock.failsAfter = Infinity;
      clock.advance(200);
      expect(clock.pendingTimers).toBe(0);
      for (const key of [4, 5, 6]) expect(limiter.attemptAcquire(key).isAcquired).toBe(true);
    }
  });
});

describe('a clock that fails as the timer is set for those behind one who was served', () => {
  it('makes none of them wait longer than they have to', async () => {
    const clock = new FailingClock();
    const bucket = { tokenLimit: 5, tokensPerPeriod: 1, replenishmentPeriodMs: 1_000, queueLimit: 9, clock };
    const limiter = new TokenBucketRateLimiter(bucket);
    limiter.attemptAcquire(5);
    const first = limiter.acquire(5);
    const second = limiter.acquire(1);
    clock.failsAfter = 1;
    expect(() => limiter.reset()).toThrow('The clock fails.');
    clock.failsAfter = Infinity;
    expect((await first).isAcquired).toBe(true);
    // The timer that was set for the first would be due after five seconds.
    clock.advance(1_000);
    expect(await Promise.race([second, 'It waits.'])).toMatchObject({ isAcquired: true });
  });
});

describe('a clock that fails as a waiting request is aborted', () => {
  const failing = (
    make: (clock: FailingClock) => RateLimiter,
  ): { clock: FailingClock; limiter: RateLimiter; gone: AbortController; ended: Promise<unknown> } => {
    const clock = new FailingClock();
    const limiter = make(clock);
    limiter.attemptAcquire();
    const gone = new AbortController();
    const ended = limiter.acquire(2, { signal: gone.signal }).catch((reason: unknown) => reason);
    return { clock, limiter, gone, ended };
  };
  const two = { permitLimit: 2, queueLimit: 5 };
  const MADE: Record<string, (clock: FailingClock) => RateLimiter> = {
    'a concurrency limiter': (clock) => new ConcurrencyLimiter({ ...two, clock }),
    'a fixed window': (clock) => new FixedWindowRateLimiter({ ...two, windowMs: 1_000, clock }),
    'a chain': (clock) =>
      createChainedRateLimiter(
        new FixedWindowRateLimiter({ ...two, windowMs: 1_000, clock }),
        new ConcurrencyLimiter({ ...two, clock }),
      ),
  };

  it.each(Object.keys(MADE))('loses nobody behind it, and ends no process (%s)', async (kind) => {
    for (let readings = 0; readings < 5; readings++) {
      const { clock, limiter, gone, ended } = failing(MADE[kind]!);
      // At its turn a request of a chain may need the clock itself, and is told.
      const behind = limiter.acquire(1, { maxWaitMs: 5_000 }).catch((error: Error) => error.message);
      clock.failsAfter = readings;
      gone.abort('gone');
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await ended).toBe('gone');
      // oxlint-disable-next-line no-await-in-loop -- an error in a listener comes in the next turn, and would end the tests
      await new Promise((resolve) => {
        process.nextTick(resolve);
      });
      clock.failsAfter = Infinity;
      clock.advance(100);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await behind;
      expect(typeof answer === 'string' ? answer : answer.isAcquired).toBe(
        typeof answer === 'string' && kind === 'a chain' ? 'The clock fails.' : true,
      );
    }
  });

  it('says so where it still fails when they are looked at again', () => {
    const { clock, limiter, gone } = failing(MADE['a fixed window']!);
    void limiter.acquire(1);
    clock.failsAfter = 0;
    gone.abort('gone');
    expect(() => clock.advance(100)).toThrow('The clock fails.');
  });

  it('gives back what was reserved', async () => {
    for (let readings = 0; readings < 8; readings++) {
      const clock = new FailingClock();
      const [one, other] = [0, 1].map(
        () => new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5, clock }),
      ) as [ConcurrencyLimiter, ConcurrencyLimiter];
      const gone = new AbortController();
      const ended = passOver(one, other, createChainedRateLimiter(one, other), gone.signal);
      const behind = one.acquire(1, { maxWaitMs: 5_000 });
      clock.failsAfter = readings;
      gone.abort('gone');
      clock.failsAfter = Infinity;
      clock.advance(100);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect([await ended, (await behind).isAcquired]).toEqual(['gone', true]);
    }
  });
});

describe('a clock that fails in the midst of a decision on several limiters', () => {
  it('leaves nothing taken from those before', () => {
    const clock = new FailingClock();
    const limiter = createPartitionedRateLimiter(
      () => RateLimitPartition.getConcurrencyLimiter('all', () => ({ permitLimit: 1, clock })),
      { clock },
    );
    const none = createPartitionedRateLimiter(() => RateLimitPartition.getNoLimiter('none'), { clock });
    const chain = createChainedPartitionedRateLimiter(limiter, none);
    chain.attemptAcquire('any').dispose();
    for (let readings = 0; readings < 10; readings++) {
      clock.failsAfter = readings;
      let lease: RateLimitLease | null = null;
      try {
        lease = chain.attemptAcquire('any');
      } catch (error) {
        expect((error as Error).message).toContain('fail');
      }
      clock.failsAfter = Infinity;
      lease?.dispose();
      expect(limiter.getStatistics('any')!.currentAvailablePermits).toBe(1);
    }
  });

  it.each(['at its turn', 'as its chain ends'])('leaves nothing reserved for a request %s', async (when) => {
    for (let readings = 0; readings < 12; readings++) {
      const clock = new FailingClock();
      const first = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5, clock });
      const rate = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 10, queueLimit: 5, clock });
      const last = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5, clock });
      const chain = createChainedRateLimiter(first, rate, last);
      let held = last.attemptAcquire();
      const request = chain.acquire().then(
        (lease) => lease.dispose(),
        () => undefined,
      );
      // Each time that it is its turn another limiter refuses; then it reserves and waits for the last one.
      for (let passed = 0; passed < 4; passed++) {
        const other = passed % 2 === 0 ? first.attemptAcquire() : last.attemptAcquire();
        held.dispose();
        held = other;
      }
      expect(first.getStatistics().currentAvailablePermits).toBe(0);
      clock.failsAfter = readings;
      if (when === 'as its chain ends') expectToFailAtMost(() => chain.dispose());
      expectToFailAtMost(() => held.dispose());
      clock.failsAfter = Infinity;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await request;
      for (const limiter of [first, last])
        expect(limiter.getStatistics()).toMatchObject({ currentAvailablePermits: 1, currentQueuedCount: 0 });
      clock.advance(10);
      expect(rate.attemptAcquire().isAcquired).toBe(true);
    }
  });
});

function expectToFailAtMost(step: () => void): void {
  try {
    step();
  } catch (error) {
    expect((error as Error).message).toContain('fail');
  }
}

/** A request of a chain is passed over until it holds the first limiter and waits for the second; settles with its reason. */
function passOver(
  first: ConcurrencyLimiter,
  last: ConcurrencyLimiter,
  chain: RateLimiter,
  // oxlint-disable-next-line max-params -- two limiters, their chain, and what ends the wait
  signal: AbortSignal,
): Promise<unknown> {
  let held = last.attemptAcquire();
  const ended = chain.acquire(1, { signal }).catch((reason: unknown) => reason);
  for (let passed = 0; passed < 4; passed++) {
    const other = passed % 2 === 0 ? first.attemptAcquire() : last.attemptAcquire();
    held.dispose();
    held = other;
  }
  expect(first.getStatistics().currentAvailablePermits).toBe(0);
  return ended;
}
