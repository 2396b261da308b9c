import { getEventListeners } from 'node:events';
import {
  ConcurrencyLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  MetadataName,
  RateLimiter,
  RateLimitPartition,
} from '../index.js';
import type { RateLimitLease } from '../index.js';
import { FakeClock } from '../testing/index.js';

function reasonOf(lease: RateLimitLease | undefined): string | undefined {
  return lease?.getMetadata(MetadataName.reasonPhrase);
}

function follow(promise: Promise<RateLimitLease>): { lease?: RateLimitLease; error?: unknown } {
  const progress: { lease?: RateLimitLease; error?: unknown } = {};
  promise.then(
    (lease) => (progress.lease = lease),
    (error: unknown) => (progress.error = error),
  );
  return progress;
}

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('maxWaitMs', () => {
  it('ends a wait with a refusal that says so, counts it and frees its room', async () => {
    const clock = new FakeClock();
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1, clock });
    limiter.attemptAcquire();
    const waiter = follow(limiter.acquire(1, { maxWaitMs: 50 }));
    clock.advance(49);
    await settled();
    expect(waiter.lease).toBeUndefined();
    clock.advance(1);
    await settled();
    expect(reasonOf(waiter.lease)).toBe('Wait limit reached');
    expect(limiter.getStatistics()).toMatchObject({ currentQueuedCount: 0, totalFailedLeases: 1 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('doesn’t matter to a request that is served in time, and leaves no timer', async () => {
    const clock = new FakeClock();
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1, clock });
    const held = limiter.attemptAcquire();
    const waiter = follow(limiter.acquire(1, { maxWaitMs: 50 }));
    clock.advance(20);
    held.dispose();
    await settled();
    expect(waiter.lease?.isAcquired).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    clock.advance(1_000);
    expect(limiter.getStatistics().totalFailedLeases).toBe(0);
  });

  it('refuses at once what can’t be served in time, and takes what can', async () => {
    const clock = new FakeClock();
    const limiter = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1_000, queueLimit: 5, clock });
    limiter.attemptAcquire();
    const hopeless = await limiter.acquire(1, { maxWaitMs: 999 });
    expect(reasonOf(hopeless)).toBe('Wait limit reached');
    expect(hopeless.getMetadata(MetadataName.retryAfter)).toBe(1_000);
    const first = follow(limiter.acquire(1, { maxWaitMs: 1_000 }));
    expect(reasonOf(await limiter.acquire(1, { maxWaitMs: 1_999 }))).toBe('Wait limit reached');
    const second = follow(limiter.acquire(1, { maxWaitMs: 2_000 }));
    clock.advance(2_000);
    await settled();
    expect([first.lease?.isAcquired, second.lease?.isAcquired]).toEqual([true, true]);
  });

  it('of 0 never waits, and is granted what is there', async () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1, clock: new FakeClock() });
    expect((await limiter.acquire(1, { maxWaitMs: 0 })).isAcquired).toBe(true);
    expect(reasonOf(await limiter.acquire(1, { maxWaitMs: 0 }))).toBe('Wait limit reached');
    expect(limiter.getStatistics().currentQueuedCount).toBe(0);
  });

  it('of Infinity is no limit', async () => {
    const clock = new FakeClock();
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1, clock });
    const held = limiter.attemptAcquire();
    const waiter = follow(limiter.acquire(1, { maxWaitMs: Infinity }));
    clock.advance(1e9);
    expect(clock.pendingTimers).toBe(0);
    held.dispose();
    await settled();
    expect(waiter.lease?.isAcquired).toBe(true);
  });

  it('beyond 2^31 ms is kept', async () => {
    const clock = new FakeClock();
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1, clock });
    limiter.attemptAcquire();
    const waiter = follow(limiter.acquire(1, { maxWaitMs: 2 ** 32 }));
    clock.advance(2 ** 32 - 1);
    await settled();
    expect(waiter.lease).toBeUndefined();
    clock.advance(1);
    await settled();
    expect(reasonOf(waiter.lease)).toBe('Wait limit reached');
  });

  it('evicts nobody for a request that doesn’t wait', async () => {
    const clock = new FakeClock();
    const limiter = new FixedWindowRateLimiter({
      permitLimit: 1,
      windowMs: 1_000,
      queueLimit: 1,
      queueProcessingOrder: 'newestFirst',
      clock,
    });
    limiter.attemptAcquire();
    const waiter = follow(limiter.acquire());
    expect(reasonOf(await limiter.acquire(1, { maxWaitMs: 10 }))).toBe('Wait limit reached');
    await settled();
    expect(waiter.lease).toBeUndefined();
  });

  it('ends the waits that are over in whatever order they were asked for, and serves those behind', async () => {
    const clock = new FakeClock();
    const limiter = new ConcurrencyLimiter({ permitLimit: 2, queueLimit: 10, clock });
    limiter.attemptAcquire();
    const [big, patient, hasty] = [
      follow(limiter.acquire(2, { maxWaitMs: 30 })),
      follow(limiter.acquire(2, { maxWaitMs: 40 })),
      follow(limiter.acquire(1, { maxWaitMs: 50 })),
    ];
    clock.advance(39);
    await settled();
    expect([reasonOf(big.lease), patient.lease, hasty.lease]).toEqual([
      'Wait limit reached',
      undefined,
      undefined,
    ]);
    clock.advance(1);
    await settled();
    expect(reasonOf(patient.lease)).toBe('Wait limit reached');
    expect(hasty.lease?.isAcquired).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('names the time after which the request would be granted as if it were made now', async () => {
    const clock = new FakeClock();
    const limiter = new FixedWindowRateLimiter({
      permitLimit: 1,
      windowMs: 1_000,
      queueLimit: 1,
      autoReplenishment: false,
      clock,
    });
    limiter.attemptAcquire();
    const waiter = follow(limiter.acquire(1, { maxWaitMs: 1_500 }));
    clock.advance(1_500);
    await settled();
    expect(reasonOf(waiter.lease)).toBe('Wait limit reached');
    // Overdue: only nobody has called tryReplenish.
    expect(waiter.lease?.getMetadata(MetadataName.retryAfter)).toBe(1);
  });

  it('lets an abort come first', async () => {
    const clock = new FakeClock();
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1, clock });
    limiter.attemptAcquire();
    const controller = new AbortController();
    const waiter = follow(limiter.acquire(1, { maxWaitMs: 50, signal: controller.signal }));
    const reason = new Error('gone');
    controller.abort(reason);
    clock.advance(100);
    await settled();
    expect(waiter).toEqual({ error: reason });
    expect(limiter.getStatistics().totalFailedLeases).toBe(0);
  });
});

describe('maxWaitMs behind one that waits without a limit', () => {
  it('ends in time, though there was no timer before', async () => {
    const clock = new FakeClock();
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 2, clock });
    limiter.attemptAcquire();
    const [patient, hurried] = [follow(limiter.acquire()), follow(limiter.acquire(1, { maxWaitMs: 50 }))];
    expect(clock.pendingTimers).toBe(1);
    clock.advance(50);
    await settled();
    expect(reasonOf(hurried.lease)).toBe('Wait limit reached');
    expect(patient.lease).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
  });
});

/** Waits for ever, or until it is told to stop. */
class Foreign extends RateLimiter {
  signal: AbortSignal | undefined;
  failsWith: Error | undefined;

  override get idleDurationMs(): null {
    return null;
  }

  override getStatistics(): null {
    return null;
  }

  protected override attemptAcquireCore(): RateLimitLease {
    throw new Error('Nobody attempts.');
  }

  protected override acquireCore(_permits: number, signal?: AbortSignal): Promise<RateLimitLease> {
    this.signal = signal;
    if (this.failsWith !== undefined) return Promise.reject(this.failsWith);
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  }
}

describe('maxWaitMs of a limiter of another maker', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('aborts its acquisition when the time is over, and refuses', async () => {
    const limiter = new Foreign();
    const waiting = limiter.acquire(1, { maxWaitMs: 50 });
    jest.advanceTimersByTime(49);
    expect(limiter.signal?.aborted).toBe(false);
    jest.advanceTimersByTime(1);
    expect(reasonOf(await waiting)).toBe('Wait limit reached');
    expect(limiter.signal?.aborted).toBe(true);
  });

  it('hands on the abort of the caller, and leaves neither listener nor timer', async () => {
    const limiter = new Foreign();
    const { signal, ...controller } = withSignal();
    const waiting = limiter.acquire(1, { maxWaitMs: 50, signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    controller.abort(new Error('the client left'));
    await expect(waiting).rejects.toThrow('the client left');
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('hands on what goes wrong, and leaves neither listener nor timer', async () => {
    const limiter = new Foreign();
    limiter.failsWith = new Error('the store is gone');
    const { signal } = withSignal();
    await expect(limiter.acquire(1, { maxWaitMs: 50, signal })).rejects.toThrow('the store is gone');
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(jest.getTimerCount()).toBe(0);
  });
});

function withSignal(): { signal: AbortSignal; abort: (reason: unknown) => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
}

describe('maxWaitMs of a chain', () => {
  it('is the time of the whole wait, whichever queues it is spent in', async () => {
    const clock = new FakeClock();
    const [a, b] = [1, 2].map(() => new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5, clock }));
    const [heldA] = [a!.attemptAcquire(), b!.attemptAcquire()];
    const waiter = follow(createChainedRateLimiter(a!, b!).acquire(1, { maxWaitMs: 100 }));
    clock.advance(60);
    heldA.dispose();
    expect(b!.getStatistics().currentQueuedCount).toBe(1);
    clock.advance(39);
    await settled();
    expect(waiter.lease).toBeUndefined();
    clock.advance(1);
    await settled();
    expect(reasonOf(waiter.lease)).toBe('Wait limit reached');
    expect(a!.getStatistics().currentAvailablePermits).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('maxWaitMs of a partitioned limiter', () => {
  it('bounds the wait in the partition', async () => {
    const clock = new FakeClock();
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1, queueLimit: 1 })),
      { clock },
    );
    limiter.attemptAcquire('a');
    const translated = limiter.withTranslatedKey((key: number) => (key === 1 ? 'a' : 'b'));
    const waiter = follow(translated.acquire(1, 1, { maxWaitMs: 50 }));
    clock.advance(50);
    await settled();
    expect(reasonOf(waiter.lease)).toBe('Wait limit reached');
  });
});
