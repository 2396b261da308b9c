import {
  ConcurrencyLimiter,
  createPartitionedRateLimiter,
  ManagedLifetimeLimiter,
  RateLimitPartition,
} from '../index.js';
import type { RateLimitLease } from '../index.js';
import { FakeClock } from '../testing/index.js';
import { foreseeableIdle } from './foreseeable-idle.js';

const DISPOSED = expect.objectContaining({ code: 'ERR_RL_OBJECT_DISPOSED' });
const IDLE_TIMEOUT_MS = 1_000;

type Question = 'how idle it is' | 'to replenish' | 'to end';

/** Limiters of partitions that do something else, once, before they answer a question. */
function meddling(question: Question, keys: number, maxPartitions?: number) {
  const clock = new FakeClock();
  const errors: unknown[][] = [];
  const ended: string[] = [];
  let meddle: (() => void) | null = null;
  const run = (asked: Question): void => {
    if (asked !== question || meddle === null) return;
    const once = meddle;
    meddle = null;
    once();
  };
  class Meddling extends ConcurrencyLimiter {
    readonly #key: string;

    constructor(key: string) {
      super({ permitLimit: 1, queueLimit: 1, clock });
      this.#key = key;
    }

    override get idleDurationMs(): number | null {
      run('how idle it is');
      return super.idleDurationMs;
    }

    override tryReplenish(): boolean {
      run('to replenish');
      return super.tryReplenish();
    }

    override dispose(): void {
      ended.push(this.#key);
      super.dispose();
      run('to end');
    }
  }
  const partitions = createPartitionedRateLimiter(
    (key: string) => RateLimitPartition.get(key, () => new Meddling(key)),
    { clock, idleTimeoutMs: IDLE_TIMEOUT_MS, maxPartitions, onError: (...error) => errors.push(error) },
  );
  for (let key = 0; key < keys; key++) partitions.attemptAcquire(`${key}`).dispose();
  return { clock, partitions, errors, ended, before: (once: () => void) => (meddle = once) };
}

const QUESTIONS: Question[] = ['how idle it is', 'to replenish'];
/** When the key is asked for again: while its partition lives, and once it has outlived its timeout. */
const AGAIN_AFTER_MS = [0, 1.05 * IDLE_TIMEOUT_MS];

describe.each(QUESTIONS)('a limiter of a partition that is asked %s', (question) => {
  it.each(AGAIN_AFTER_MS)(
    'may end them all: the call is told that, and nothing else (after %d ms)',
    async (ms) => {
      for (const isSynchronous of [true, false]) {
        const { clock, partitions, errors, ended, before } = meddling(question, 1);
        clock.skip(ms);
        before(() => partitions.dispose());
        if (isSynchronous) expect(() => partitions.attemptAcquire('0')).toThrow(DISPOSED);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        else await expect(partitions.acquire('0')).rejects.toEqual(DISPOSED);
        expect(errors).toEqual([]);
        expect(new Set(ended)).toEqual(new Set(['0']));
        expect(clock.pendingTimers).toBe(0);
      }
    },
  );

  it.each(AGAIN_AFTER_MS)('may ask for the key: both count on one partition (after %d ms)', async (ms) => {
    for (const isSynchronous of [true, false]) {
      const { clock, partitions, errors, before } = meddling(question, 1);
      clock.skip(ms);
      let within: RateLimitLease | null = null;
      before(() => (within = partitions.attemptAcquire('0')));
      const second = isSynchronous ? partitions.attemptAcquire('0') : partitions.acquire('0');
      expect(within!.isAcquired).toBe(true);
      expect(partitions.partitionCount).toBe(1);
      within!.dispose();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const lease = await second;
      expect(lease.isAcquired).toBe(!isSynchronous);
      lease.dispose();
      clock.advance(3 * IDLE_TIMEOUT_MS);
      expect([partitions.partitionCount, clock.pendingTimers, errors]).toEqual([0, 0, []]);
    }
  });
});

describe('the partitions of which one ends them all while they are tidied up', () => {
  // More than one turn looks at.
  it.each([5, 2_500])('end once each, without an error and a timer (of %d)', (keys) => {
    for (const question of [...QUESTIONS, 'to end'] as const) {
      const { clock, partitions, errors, ended, before } = meddling(question, keys);
      before(() => partitions.dispose());
      clock.advance(3 * IDLE_TIMEOUT_MS);
      if (question === 'to replenish') partitions.dispose();
      expect([errors, clock.pendingTimers, ended.length, new Set(ended).size]).toEqual([[], 0, keys, keys]);
    }
  });

  it('may be asked for by it: they are counted once', () => {
    const { clock, partitions, errors, before } = meddling('how idle it is', 3);
    const held: RateLimitLease[] = [];
    clock.skip(1.05 * IDLE_TIMEOUT_MS);
    before(() => held.push(...['0', '1', '2'].map((key) => partitions.attemptAcquire(key))));
    clock.advance(2 * IDLE_TIMEOUT_MS);
    expect(held.map(({ isAcquired }) => isAcquired)).toEqual([true, true, true]);
    expect(partitions.partitionCount).toBe(3);
    for (const lease of held) lease.dispose();
    clock.advance(2 * IDLE_TIMEOUT_MS);
    expect([partitions.partitionCount, clock.pendingTimers, errors]).toEqual([0, 0, []]);
  });
});

describe('a limiter that is asked how idle it is to make room for another', () => {
  it.each([1, 2, 3])('may ask for a new key itself: each of them is found once (%d at the most)', (most) => {
    const { clock, partitions, errors, ended, before } = meddling('how idle it is', most, most);
    clock.skip(1.05 * IDLE_TIMEOUT_MS);
    const leases: RateLimitLease[] = [];
    before(() => leases.push(partitions.attemptAcquire('within')));
    leases.push(partitions.attemptAcquire('new'));
    expect(leases.map(({ isAcquired }) => isAcquired)).toEqual([most > 1, true]);
    expect(partitions.partitionCount).toBe(most);
    for (const lease of leases) lease.dispose();
    for (let key = 0; key < 5; key++) {
      clock.advance(3 * IDLE_TIMEOUT_MS);
      expect([partitions.partitionCount, clock.pendingTimers, errors]).toEqual([0, 0, []]);
      for (let more = 0; more < most; more++) partitions.attemptAcquire(`${key} ${more}`).dispose();
      expect(partitions.partitionCount).toBe(most);
    }
    expect(new Set(ended).size).toBe(ended.length);
  });
});

describe('a limiter that ends itself as it is replenished for its first request', () => {
  it('is named in the error: it is no lack of room', async () => {
    class Ending extends ManagedLifetimeLimiter {
      override tryReplenish(): boolean {
        this.dispose();
        return false;
      }
    }
    const partitions = createPartitionedRateLimiter((key: string) =>
      RateLimitPartition.get(key, () => new Ending(new ConcurrencyLimiter({ permitLimit: 1 }))),
    );
    expect(() => partitions.attemptAcquire('any')).toThrow(DISPOSED);
    await expect(partitions.acquire('any')).rejects.toThrow('Ending');
    expect(partitions.partitionCount).toBe(0);
  });
});

describe('a limiter that is ended by being asked how idle it is', () => {
  it('leaves its place to another, although it said that it can’t go', () => {
    const clock = new FakeClock();
    class Ending extends ManagedLifetimeLimiter {
      override get idleDurationMs(): number | null {
        const idleMs = super.idleDurationMs;
        this.dispose();
        return idleMs;
      }
    }
    const partitions = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.get(key, () => new Ending(new ConcurrencyLimiter({ permitLimit: 1, clock }))),
      { clock, maxPartitions: 1 },
    );
    partitions.attemptAcquire('one');
    clock.skip(60_000);
    expect(partitions.attemptAcquire('another').isAcquired).toBe(true);
    expect(partitions.partitionCount).toBe(1);
  });

  /** A partition whose limiter ends them all, and then says how idle it was. */
  function endingAll(isForeseeable: boolean, idleWhenEndedMs: number | null) {
    const clock = new FakeClock();
    const errors: unknown[][] = [];
    let [made, ended, refreshed] = [0, 0, 0];
    let isEnding = false;
    class Ending extends ConcurrencyLimiter {
      get [foreseeableIdle](): boolean {
        return isForeseeable;
      }

      override get idleDurationMs(): number | null {
        if (!isEnding) return super.idleDurationMs;
        partitions.dispose();
        return idleWhenEndedMs;
      }

      override dispose(): void {
        ended++;
        super.dispose();
      }
    }
    const partitions = createPartitionedRateLimiter(
      (partitionKey: string) => ({
        partitionKey,
        factory: () => {
          made++;
          return new Ending({ permitLimit: 1, clock });
        },
        refresh: () => void refreshed++,
      }),
      { clock, idleTimeoutMs: IDLE_TIMEOUT_MS, maxPartitions: 1, onError: (...error) => errors.push(error) },
    );
    partitions.attemptAcquire('one').dispose();
    clock.skip(1.05 * IDLE_TIMEOUT_MS);
    isEnding = true;
    const seen = (): unknown[] => [made, ended, refreshed, errors, clock.pendingTimers];
    return { clock, partitions, seen };
  }

  const ANSWERS: [boolean, number | null][] = [true, false].flatMap((isForeseeable) =>
    [null, 0, 60_000].map((idleMs): [boolean, number | null] => [isForeseeable, idleMs]),
  );

  describe.each(ANSWERS)('together with all others (foreseeable: %s, idle for %s ms)', (...answer) => {
    it.each(['one', 'another'])('lets nobody make, end or refresh anything for a key (%s)', (key) => {
      for (const isRefreshed of [true, false]) {
        const { partitions, seen } = endingAll(...answer);
        if (isRefreshed) partitions.refreshOptions();
        expect(() => partitions.attemptAcquire(key)).toThrow(/^PartitionedRateLimiter was disposed/);
        expect(seen()).toEqual([1, 1, 0, [], 0]);
      }
    });

    it('is not looked at again by the sweep', () => {
      const { clock, seen } = endingAll(...answer);
      clock.advance(3 * IDLE_TIMEOUT_MS);
      expect(seen()).toEqual([1, 1, 0, [], 0]);
    });
  });
});
