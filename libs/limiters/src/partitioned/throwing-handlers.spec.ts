import { Keeper } from '../../conformance/partitioned/foreign-keeper.js';

const KEYS = ['a', 'b', 'c'];

function inVain(error: unknown): never {
  throw error;
}

/** Lets time pass, and returns what timers have thrown meanwhile. */
function pass({ clock }: Keeper, ms: number): Set<string> {
  const thrown = new Set<string>();
  const endMs = clock.now() + ms;
  while (clock.now() < endMs) {
    try {
      clock.advance(endMs - clock.now());
    } catch (error) {
      thrown.add((error as Error).message);
    }
  }
  return thrown;
}

describe('a handler of errors that throws', () => {
  it.each(['idleDurationMs', 'getStatistics', 'dispose', 'tryReplenish'] as const)(
    'keeps nobody from being replenished, or from leaving, where %s fails, and is no secret',
    async (failing) => {
      for (const broken of KEYS) {
        const keeper = new Keeper({ idleTimeoutMs: 1_000, onError: inVain });
        for (const key of KEYS) keeper.limiter.attemptAcquire(key, 2);
        const others = KEYS.filter((key) => key !== broken);
        const waiting = KEYS.map((key) => keeper.limiter.acquire(key));
        keeper.of(broken).failing = failing;
        if (failing === 'dispose') keeper.of(broken).idleMs = 2_000;
        expect(pass(keeper, 1_000)).toEqual(new Set([`${failing} failed`]));
        for (const key of others) {
          expect(keeper.of(key).replenished).toBeGreaterThanOrEqual(10);
          keeper.of(key).idleMs = 2_000;
        }
        pass(keeper, 300);
        expect(others.map((key) => keeper.of(key).disposed)).toEqual([1, 1]);
        keeper.of(broken).inner.dispose();
        await Promise.all(waiting);
      }
    },
  );

  it.each([
    [
      'can set none',
      () => {
        throw new Error('no timer');
      },
    ],
    [
      'calls back at once',
      (callback: () => void) => {
        callback();
        return { cancel: () => undefined };
      },
    ],
  ])('is no secret where the clock %s, and concerns nobody who asks', (_what, setTimer) => {
    jest.useFakeTimers();
    try {
      const keeper = new Keeper({ idleTimeoutMs: 1_000, maxPartitions: 2, onError: inVain });
      for (const key of ['a', 'b']) keeper.limiter.attemptAcquire(key);
      keeper.of('a').failing = 'idleDurationMs';
      keeper.of('b').failing = 'tryReplenish';
      keeper.clock.skip(5_000);
      keeper.clock.setTimer = setTimer;
      expect(keeper.limiter.attemptAcquire('b').isAcquired).toBe(true);
      expect(() => jest.runAllTimers()).toThrow('tryReplenish failed');
      expect(keeper.limiter.attemptAcquire('c').isAcquired).toBe(false);
      expect(() => jest.runAllTimers()).toThrow('idleDurationMs failed');
    } finally {
      jest.useRealTimers();
    }
  });

  it('concerns nobody who needs room where limiters can’t say how idle they are, or can’t end', () => {
    for (const failing of ['idleDurationMs', 'dispose'] as const) {
      const keeper = new Keeper({ idleTimeoutMs: 1_000, maxPartitions: 2, onError: inVain });
      for (const key of ['a', 'b']) {
        keeper.limiter.attemptAcquire(key);
        keeper.of(key).failing = failing;
        keeper.of(key).idleMs = 5_000;
      }
      keeper.clock.skip(5_000);
      const leases = ['c', 'd', 'e'].map((key) => keeper.limiter.attemptAcquire(key));
      const isRoom = failing === 'dispose';
      expect(leases.map(({ isAcquired }) => isAcquired)).toEqual([isRoom, isRoom, false]);
      expect(leases[2]!.getMetadata('REASON_PHRASE')).toBe('Partition limit reached');
      expect(pass(keeper, 1_000)).toEqual(new Set([`${failing} failed`]));
    }
  });
});
