import { getEventListeners } from 'node:events';
import {
  ConcurrencyLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  RateLimitPartition,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length;
}

function heldLimiter(queueLimit = 10_000): ConcurrencyLimiter {
  const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit });
  limiter.attemptAcquire();
  return limiter;
}

describe('listeners on the signal of waiters', () => {
  it('are one for a thousand waiters, and none once they are served', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1_000 });
    const held = limiter.attemptAcquire();
    const { signal } = new AbortController();
    const waiting = Array.from({ length: 1_000 }, async () =>
      (await limiter.acquire(1, { signal })).dispose(),
    );
    expect(listenersOf(signal)).toBe(1);
    held.dispose();
    await Promise.all(waiting);
    expect(listenersOf(signal)).toBe(0);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  it('are none when a request did not have to wait', async () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 2, queueLimit: 1 });
    const { signal } = new AbortController();
    await limiter.acquire(1, { signal });
    await limiter.acquire(2, { signal, maxWaitMs: 0 });
    expect(listenersOf(signal)).toBe(0);
  });

  it('go with the limiter', async () => {
    const limiter = heldLimiter();
    const { signal } = new AbortController();
    const waiting = [limiter.acquire(1, { signal }), limiter.acquire(1, { signal })];
    expect(listenersOf(signal)).toBe(1);
    limiter.dispose();
    await Promise.all(waiting);
    expect(listenersOf(signal)).toBe(0);
  });

  it('go when the signal aborts, and every waiter rejects with its reason', async () => {
    const limiter = heldLimiter();
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = Array.from({ length: 100 }, () => limiter.acquire(1, { signal }));
    const reason = new Error('the client has left');
    controller.abort(reason);
    const outcomes = await Promise.allSettled(waiting);
    for (const outcome of outcomes) expect(outcome).toEqual({ status: 'rejected', reason });
    expect(listenersOf(signal)).toBe(0);
    expect(limiter.getStatistics().currentQueuedCount).toBe(0);
  });

  it('stay while the signal still has a waiter somewhere, one for all limiters', async () => {
    const [first, second] = [heldLimiter(), heldLimiter()];
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = [first.acquire(1, { signal }), second.acquire(1, { signal })];
    expect(listenersOf(signal)).toBe(1);
    first.dispose();
    await waiting[0];
    expect(listenersOf(signal)).toBe(1);
    controller.abort(new Error('enough'));
    await expect(waiting[1]).rejects.toThrow('enough');
    expect(listenersOf(signal)).toBe(0);
  });

  it('go when the wait was too long', async () => {
    const clock = new FakeClock();
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1, clock });
    limiter.attemptAcquire();
    const { signal } = new AbortController();
    const waiting = limiter.acquire(1, { signal, maxWaitMs: 10 });
    clock.advance(10);
    expect((await waiting).isAcquired).toBe(false);
    expect(listenersOf(signal)).toBe(0);
  });

  it('are one for requests of chains and partitions too', async () => {
    const limiter = heldLimiter();
    const chain = createChainedRateLimiter(limiter, new ConcurrencyLimiter({ permitLimit: 1 }));
    const partitions = createPartitionedRateLimiter((key: string) =>
      RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1, queueLimit: 1 })),
    );
    partitions.attemptAcquire('a');
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = [chain.acquire(1, { signal }), partitions.acquire('a', 1, { signal })];
    expect(listenersOf(signal)).toBe(1);
    controller.abort(new Error('enough'));
    for (const { status } of await Promise.allSettled(waiting)) expect(status).toBe('rejected');
    expect(listenersOf(signal)).toBe(0);
  });

  it('leave alone what the signal has to say to others', () => {
    const limiter = heldLimiter();
    const controller = new AbortController();
    const told: string[] = [];
    controller.signal.addEventListener('abort', () => told.push('the caller'));
    limiter.acquire(1, { signal: controller.signal }).catch(() => undefined);
    limiter.dispose();
    controller.abort();
    expect(told).toEqual(['the caller']);
  });
});

describe('one signal of several waiters', () => {
  it('ends all of them before anybody else is served', async () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 3, queueLimit: 10 });
    limiter.attemptAcquire(2);
    const controller = new AbortController();
    const { signal } = controller;
    const aborted = [limiter.acquire(2, { signal }), limiter.acquire(1, { signal })];
    const other = limiter.acquire(1);
    controller.abort(new Error('gone'));
    for (const { status } of await Promise.allSettled(aborted)) expect(status).toBe('rejected');
    expect((await other).isAcquired).toBe(true);
  });

  it('rejects with whatever the reason is', async () => {
    const limiter = heldLimiter();
    const controller = new AbortController();
    const waiting = limiter.acquire(1, { signal: controller.signal });
    controller.abort('a text');
    await expect(waiting).rejects.toBe('a text');
    await expect(limiter.acquire(1, { signal: controller.signal })).rejects.toBe('a text');
  });
});
