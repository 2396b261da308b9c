import type { ClockTimer, RateLimiter, RateLimitLease } from '../index.js';
import {
  ConcurrencyLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  RateLimitPartition,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

type Step = 'now' | 'setTimer' | 'cancel';

/** A clock that does something else before it answers, once: what a clock of one's own may come to by a log or a test. */
class MeddlingClock extends FakeClock {
  readonly #meddling = new Map<Step, { left: number; meddle: () => void }>();

  /** Meddles in one of the next calls of a kind, after so many others. */
  meddleIn(step: Step, meddle: () => void, after = 0): void {
    this.#meddling.set(step, { left: after, meddle });
  }

  override now(): number {
    this.#meddle('now');
    return super.now();
  }

  override setTimer(callback: () => void, delayMs: number): ClockTimer {
    this.#meddle('setTimer');
    const timer = super.setTimer(callback, delayMs);
    return {
      cancel: () => {
        this.#meddle('cancel');
        timer.cancel();
      },
    };
  }

  #meddle(step: Step): void {
    const found = this.#meddling?.get(step);
    if (found === undefined || found.left-- > 0) return;
    this.#meddling.delete(step);
    found.meddle();
  }
}

const STEPS: readonly (readonly [Step, number])[] = [
  ...[0, 1, 2, 3, 4, 5, 6].map((after) => ['now', after] as const),
  ['setTimer', 0],
  ['setTimer', 1],
  ['cancel', 0],
  ['cancel', 1],
];

const reasonOf = (waiting: Promise<RateLimitLease>): Promise<unknown> =>
  waiting.then(
    (lease) => lease.isAcquired || lease.getMetadata('REASON_PHRASE'),
    (reason: unknown) => reason,
  );

interface Scene {
  readonly clock: MeddlingClock;
  readonly limiter: RateLimiter;
  readonly held: RateLimitLease;
  readonly gone: AbortController;
}

const MAKE: Record<string, (clock: MeddlingClock) => RateLimiter> = {
  'a fixed window': (clock) =>
    new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1_000, queueLimit: 9, clock }),
  'a concurrency limiter': (clock) => new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 9, clock }),
  'a chain': (clock) =>
    createChainedRateLimiter(
      new ConcurrencyLimiter({ permitLimit: 5, queueLimit: 9, clock }),
      new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1_000, queueLimit: 9, clock }),
    ),
};

describe.each(Object.entries(MAKE))('a clock in whose midst %s is used', (_, make) => {
  const scene = (): Scene => {
    const clock = new MeddlingClock();
    const limiter = make(clock);
    return { clock, limiter, held: limiter.attemptAcquire(), gone: new AbortController() };
  };

  it.each(STEPS)('leaves no timer behind who has gone by an abort (%s, %d)', async (step, after) => {
    const { clock, limiter, gone } = scene();
    clock.meddleIn(step, () => gone.abort('gone'), after);
    const ended = reasonOf(limiter.acquire(1, { signal: gone.signal, maxWaitMs: 5_000 }));
    gone.abort('gone');
    expect(await ended).toBe('gone');
    expect(clock.pendingTimers).toBe(0);
  });

  it.each(STEPS)('leaves no timer behind its end (%s, %d)', async (step, after) => {
    const { clock, limiter } = scene();
    clock.meddleIn(step, () => limiter.dispose(), after);
    const ended = reasonOf(limiter.acquire(1, { maxWaitMs: 5_000 }));
    limiter.dispose();
    expect(await ended).not.toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each(STEPS)('sets one timer for all who wait (%s, %d)', async (step, after) => {
    const { clock, limiter } = scene();
    const waiting: Promise<unknown>[] = [];
    clock.meddleIn(step, () => waiting.push(reasonOf(limiter.acquire(1, { maxWaitMs: 4_000 }))), after);
    waiting.push(reasonOf(limiter.acquire(1, { maxWaitMs: 5_000 })));
    expect(clock.pendingTimers).toBe(1);
    clock.advance(20_000);
    await Promise.all(waiting);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a clock in whose midst partitions are used', () => {
  it.each(STEPS)('leaves no timer behind their end (%s, %d)', (step, after) => {
    const clock = new MeddlingClock();
    const limiter = createPartitionedRateLimiter(
      (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1 })),
      { clock },
    );
    clock.meddleIn(step, () => limiter.dispose(), after);
    try {
      for (const key of ['one', 'two', 'three']) limiter.attemptAcquire(key);
    } catch (error) {
      expect(error).toMatchObject({ code: 'ERR_RL_OBJECT_DISPOSED' });
    }
    limiter.dispose();
    expect(clock.pendingTimers).toBe(0);
  });

  it.each(STEPS)('sets one timer for all of them (%s, %d)', (step, after) => {
    const clock = new MeddlingClock();
    const limiter = createPartitionedRateLimiter(
      (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1 })),
      { clock },
    );
    clock.meddleIn(step, () => limiter.attemptAcquire('within').dispose(), after);
    for (const key of ['one', 'two']) limiter.attemptAcquire(key).dispose();
    expect(clock.pendingTimers).toBe(1);
    clock.advance(40_000);
    expect([limiter.partitionCount, clock.pendingTimers]).toEqual([0, 0]);
  });

  it.each(STEPS)('leaves no beat behind those that are replenished by it (%s, %d)', async (step, after) => {
    const clock = new MeddlingClock();
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.getFixedWindowLimiter(key, () => ({
          permitLimit: 1,
          windowMs: 1_000,
          queueLimit: 5,
          autoReplenishment: false,
        })),
      { clock },
    );
    limiter.attemptAcquire('one');
    clock.meddleIn(step, () => limiter.dispose(), after);
    const ended = reasonOf(limiter.acquire('one', 1));
    limiter.dispose();
    await ended;
    expect(clock.pendingTimers).toBe(0);
  });
});
