import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ConcurrencyLimiter } from '../../src/index.js';
import type { RateLimitLease } from '../../src/index.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function held(
  permitLimit: number,
  queueLimit: number,
): { limiter: ConcurrencyLimiter; leases: RateLimitLease[] } {
  const limiter = new ConcurrencyLimiter({ permitLimit, queueLimit });
  return { limiter, leases: Array.from({ length: permitLimit }, () => limiter.attemptAcquire()) };
}

/** As much of an abort signal as a limiter needs: the platform's would cost ten times as much as what it aborts. */
class BareSignal {
  readonly aborted = false;
  readonly reason = 'gone';
  #listener: { handleEvent(): void } | null = null;

  addEventListener(_type: 'abort', listener: { handleEvent(): void }): void {
    this.#listener = listener;
  }

  removeEventListener(): void {
    this.#listener = null;
  }

  abort(): void {
    this.#listener!.handleEvent();
  }
}

/**
 * Queues so many waiters behind a holder and aborts them in a mixed order. Returns the milliseconds that the processor
 * spent on the aborts: what other processes do meanwhile doesn't count.
 */
async function abortAll(count: number): Promise<number> {
  const { limiter } = held(1, count);
  const signals = Array.from({ length: count }, () => new BareSignal());
  const waiting = signals.map((bare) => {
    const signal = bare as unknown as AbortSignal;
    return limiter.acquire(1, { signal }).catch(() => 'aborted');
  });
  // A step that has no divisor in common with the count visits each once.
  const mixed = signals.map((_, index) => signals[(index * 7_919) % count]!);
  const begin = process.cpuUsage();
  for (const signal of mixed) signal.abort();
  const { user, system } = process.cpuUsage(begin);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['aborted']));
  expect(limiter.getStatistics().currentQueuedCount).toBe(0);
  return (user + system) / 1_000;
}

describe('a request that can never be satisfied', () => {
  it('is rejected at once and never queued', async () => {
    const { limiter } = held(10, 100);
    for (const permits of [11, -1, 1.5]) {
      expect(() => limiter.attemptAcquire(permits)).toThrow(RangeError);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(limiter.acquire(permits)).rejects.toThrow(RangeError);
    }
    expect(limiter.getStatistics().currentQueuedCount).toBe(0);
  });

  it('is not one for no permits: that is granted while some are free, and takes none', () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 10 });
    expect(limiter.attemptAcquire(0).isAcquired).toBe(true);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(10);
    limiter.attemptAcquire(10);
    expect(limiter.attemptAcquire(0).isAcquired).toBe(false);
  });
});

describe('unfairness between big and small requests', () => {
  it('is none: a big one is not overtaken, and small ones follow in order', async () => {
    const { limiter, leases } = held(10, 20);
    const order: number[] = [];
    const big = limiter.acquire(10);
    void big.then(() => order.push(0));
    for (let small = 1; small <= 10; small++) void limiter.acquire(1).then(() => order.push(small));
    for (const lease of leases.slice(0, 5)) lease.dispose();
    expect(limiter.attemptAcquire(1).isAcquired).toBe(false);
    for (const lease of leases.slice(5, 9)) lease.dispose();
    await settled();
    expect(order).toEqual([]);
    leases[9]!.dispose();
    await settled();
    expect(order).toEqual([0]);
    (await big).dispose();
    await settled();
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('is asked for with newestFirst: the last in is served first', async () => {
    const limiter = new ConcurrencyLimiter({
      permitLimit: 1,
      queueLimit: 3,
      queueProcessingOrder: 'newestFirst',
    });
    const lease = limiter.attemptAcquire();
    const order: number[] = [];
    const waiting = [1, 2, 3].map((one) =>
      limiter.acquire().then((next) => {
        order.push(one);
        next.dispose();
      }),
    );
    lease.dispose();
    await Promise.all(waiting);
    expect(order).toEqual([3, 2, 1]);
  });
});

describe('a cancelled waiter that is not removed', () => {
  it('blocks nobody: the next is served in the same turn, and the room is free at once', async () => {
    const { limiter, leases } = held(3, 4);
    const controller = new AbortController();
    const first = limiter.acquire(3, { signal: controller.signal }).catch(() => 'aborted');
    const second = limiter.acquire(1);
    controller.abort();
    expect(limiter.getStatistics().currentQueuedCount).toBe(1);
    leases[0]!.dispose();
    expect(limiter.getStatistics().currentQueuedCount).toBe(0);
    expect((await second).isAcquired).toBe(true);
    expect(await first).toBe('aborted');
    void limiter.acquire(3);
    expect(limiter.getStatistics().currentQueuedCount).toBe(3);
    limiter.dispose();
  });
});

describe('a leak of permits', () => {
  it('is none after 1,000 rounds of waiters that all gave up', async () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 8, queueLimit: 8 });
    for (let round = 0; round < 1_000; round++) {
      const leases = Array.from({ length: 8 }, () => limiter.attemptAcquire());
      const controller = new AbortController();
      const { signal } = controller;
      const waiting = Array.from({ length: 8 }, () => limiter.acquire(1, { signal }).catch(() => undefined));
      controller.abort();
      for (const lease of leases) lease.dispose();
      // oxlint-disable-next-line no-await-in-loop -- one round after the other
      await Promise.all(waiting);
      if (limiter.getStatistics().currentAvailablePermits !== 8) throw new Error(`A leak in round ${round}.`);
    }
    expect(
      Array.from({ length: 8 }, () => limiter.attemptAcquire()).every(({ isAcquired }) => isAcquired),
    ).toBe(true);
  });
});

describe('the cost of cancelling', () => {
  it('grows with the number of waiters, not with its square', async () => {
    await abortAll(5_000);
    const few: number[] = [];
    const many: number[] = [];
    // In turn, so that what slows one down slows the other down too; the least of each is the work itself.
    for (let round = 0; round < 3; round++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      few.push(await abortAll(5_000));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      many.push(await abortAll(40_000));
    }
    // Eight times as many, and what comes with more memory; a walk through the queue for each takes ninety times as long.
    expect(Math.min(...many) / Math.min(...few)).toBeLessThan(32);
  });

  it('is paid in full: nothing of a cancelled waiter is retained by a long queue', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const { limiter } = held(1, 2_000);
    const gone = await (async (): Promise<WeakRef<object>[]> => {
      const controllers = Array.from({ length: 1_000 }, () => new AbortController());
      const waiting = controllers.map(({ signal }) => limiter.acquire(1, { signal }));
      void limiter.acquire();
      for (const controller of controllers) controller.abort(new Error('gone'));
      await Promise.allSettled(waiting);
      return waiting.map((promise) => new WeakRef<object>(promise));
    })();
    await settled();
    collectGarbage();
    expect(gone.filter((reference) => reference.deref() !== undefined).length).toBeLessThan(10);
    expect(limiter.getStatistics().currentQueuedCount).toBe(1);
    limiter.dispose();
  });
});

describe('a leak of listeners', () => {
  it('is none after immediate grants, served waits and waits that ended with the limiter', async () => {
    const { signal } = new AbortController();
    const listeners = (): number => getEventListeners(signal, 'abort').length;
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1_000 });
    for (let call = 0; call < 10_000; call++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      (await limiter.acquire(1, { signal })).dispose();
      if (listeners() !== 0) throw new Error(`A listener was left by call ${call}.`);
    }
    const first = await limiter.acquire(1, { signal });
    const served = Array.from({ length: 1_000 }, async () =>
      (await limiter.acquire(1, { signal })).dispose(),
    );
    expect(listeners()).toBe(1);
    first.dispose();
    await Promise.all(served);
    expect(listeners()).toBe(0);
    limiter.attemptAcquire();
    const ended = Array.from({ length: 1_000 }, () => limiter.acquire(1, { signal }));
    limiter.dispose();
    await Promise.all(ended);
    expect(listeners()).toBe(0);
  });
});

describe('a release that is not idempotent', () => {
  it('mints no permits, however often and late it is done', async () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 1 });
    const first = limiter.attemptAcquire();
    for (let time = 0; time < 3; time++) first.dispose();
    {
      await using again = await limiter.acquire().then((lease) => ({
        lease,
        [Symbol.asyncDispose]: async () => lease.dispose(),
      }));
      again.lease.dispose();
    }
    expect(limiter.getStatistics().currentAvailablePermits).toBe(1);
    expect(limiter.attemptAcquire().isAcquired).toBe(true);
    first.dispose();
    expect(limiter.attemptAcquire().isAcquired).toBe(false);
  });

  it('frees nothing that was never granted', () => {
    const { limiter } = held(1, 0);
    const refused = limiter.attemptAcquire();
    for (let time = 0; time < 5; time++) refused.dispose();
    expect(limiter.getStatistics().currentAvailablePermits).toBe(0);
  });
});

describe('a cost that grows with the number of permits', () => {
  it('is none: two thousand million permits are acquired and released at once', async () => {
    const many = 2 ** 31 - 20;
    const limiter = new ConcurrencyLimiter({ permitLimit: many, queueLimit: many });
    let lease = limiter.attemptAcquire(many);
    for (let pair = 0; pair < 10_000; pair++) {
      const waiting = limiter.acquire(many);
      lease.dispose();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      lease = await waiting;
    }
    lease.dispose();
    expect(limiter.getStatistics().currentAvailablePermits).toBe(many);
  });
});
