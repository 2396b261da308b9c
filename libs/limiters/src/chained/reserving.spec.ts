import {
  bucket,
  fixedWindow,
  follow,
  PassedOver,
  retryAfterMs,
  settled,
  WINDOW_MS,
} from '../../conformance/chained/passed-over.js';
import {
  ConcurrencyLimiter,
  createChainedRateLimiter,
  MetadataName,
  TokenBucketRateLimiter,
} from '../index.js';
import type { FixedWindowRateLimiter } from '../index.js';
import { FakeClock } from '../testing/index.js';

describe('what a request of a chain has set aside', () => {
  it.each([
    ['window', fixedWindow],
    ['bucket', bucket],
  ])('of a %s is nobody else’s, and counts as taken when others are told to wait', async (_kind, create) => {
    const trial = new PassedOver(create, 3);
    await trial.wait([2]);
    trial.clock.advance(WINDOW_MS);
    const { rate } = trial;
    expect(rate.getStatistics()!.currentAvailablePermits).toBe(1);
    expect(rate.attemptAcquire(1).isAcquired).toBe(true);
    expect(rate.getStatistics()!.currentAvailablePermits).toBe(0);
    const inMs = rate instanceof TokenBucketRateLimiter ? Math.ceil(WINDOW_MS / 3) : WINDOW_MS;
    expect(retryAfterMs(rate.attemptAcquire(1))).toBe(inMs);
  });

  it('is kept in a member too in which nobody ever waited', async () => {
    const trial = new PassedOver(fixedWindow, 3);
    const [request] = await trial.wait([2]);
    trial.clock.advance(WINDOW_MS);
    expect(trial.roomy.getStatistics().currentAvailablePermits).toBe(7);
    expect(trial.roomy.idleDurationMs).toBeNull();
    expect(trial.roomy.attemptAcquire(8).isAcquired).toBe(false);
    expect(trial.roomy.attemptAcquire(7).isAcquired).toBe(true);
    expect(trial.roomy.attemptAcquire(0).isAcquired).toBe(false);
    trial.endWork();
    await settled();
    expect(request!.lease?.isAcquired).toBe(true);
    expect(trial.roomy.getStatistics().currentAvailablePermits).toBe(0);
    request!.lease!.dispose();
    expect(trial.roomy.getStatistics().currentAvailablePermits).toBe(2);
  });

  it('comes back from all when the request is aborted, whoever waited there or not', async () => {
    const trial = new PassedOver(fixedWindow, 3);
    const abort = new AbortController();
    const [request] = await trial.wait([2], abort.signal);
    trial.clock.advance(WINDOW_MS);
    abort.abort('gone');
    await settled();
    expect(request!.error).toBe('gone');
    expect(trial.roomy.getStatistics().currentAvailablePermits).toBe(9);
    expect(trial.rate.getStatistics()!.currentAvailablePermits).toBe(3);
  });

  it.each([
    [
      'Limit lowered',
      'its limit is lowered below that',
      (rate: FixedWindowRateLimiter) => rate.updateOptions({ permitLimit: 1 }),
    ],
    ['Limiter disposed', 'it ends', (rate: FixedWindowRateLimiter) => rate.dispose()],
  ])('comes back with “%s” of a member where %s before the rest is free', async (reason, _what, change) => {
    const trial = new PassedOver(fixedWindow, 3);
    const [request] = await trial.wait([2]);
    trial.clock.advance(WINDOW_MS);
    change(trial.rate as FixedWindowRateLimiter);
    trial.endWork();
    await settled();
    expect(request!.lease?.getMetadata(MetadataName.reasonPhrase)).toBe(reason);
    expect(trial.roomy.getStatistics()).toMatchObject({ currentAvailablePermits: 9, currentQueuedCount: 0 });
  });

  it('is completed at once where the rest is free', async () => {
    const trial = new PassedOver(fixedWindow, 3);
    const [request] = await trial.wait([2]);
    trial.endWork();
    await settled();
    expect(request!.lease).toBeUndefined();
    trial.clock.advance(WINDOW_MS);
    await settled();
    expect(request!.lease?.isAcquired).toBe(true);
  });

  it('is granted in the order in which requests came to reserve', async () => {
    const trial = new PassedOver(fixedWindow, 3);
    const [big, small] = await trial.wait([2, 1]);
    trial.running2.pop()!.dispose();
    trial.clock.advance(WINDOW_MS);
    await settled();
    // One permit is free, enough for the second: but the first of them waits for two.
    expect([big!.lease, small!.lease]).toEqual([undefined, undefined]);
    expect(trial.rate.getStatistics()!.currentAvailablePermits).toBe(0);
    trial.endWork();
    await settled();
    expect([big!.lease?.isAcquired, small!.lease]).toEqual([true, undefined]);
    big!.lease!.dispose();
    await settled();
    expect(small!.lease?.isAcquired).toBe(true);
  });
});

describe('requests of chains in opposite orders that reserve', () => {
  it('don’t wait for each other', async () => {
    const options = { permitLimit: 1, queueLimit: 10 };
    const [one, other] = [new ConcurrencyLimiter(options), new ConcurrencyLimiter(options)];
    let ofOther = other.attemptAcquire();
    const requests = [
      follow(createChainedRateLimiter(other, one).acquire()),
      follow(createChainedRateLimiter(one, other).acquire()),
    ];
    let ofOne = one.attemptAcquire();
    // Both in the same queue, and then in the other one; the fourth time each keeps what it gets.
    for (let turn = 0; turn < 2; turn++) {
      ofOther.dispose();
      ofOther = other.attemptAcquire();
      ofOne.dispose();
      if (turn === 0) ofOne = one.attemptAcquire();
    }
    ofOther.dispose();
    for (let turn = 0; turn < 2; turn++) {
      await settled();
      for (const { lease } of requests) lease?.dispose();
    }
    expect(requests.map(({ lease }) => lease?.isAcquired)).toEqual([true, true]);
  });
});

describe('a request that reserves', () => {
  it('displaces nobody in a queue that is full', async () => {
    const clock = new FakeClock();
    const options = { permitLimit: 1, queueLimit: 1, queueProcessingOrder: 'newestFirst' as const, clock };
    const [one, other] = [new ConcurrencyLimiter(options), new ConcurrencyLimiter(options)];
    let [ofOne, ofOther] = [one.attemptAcquire(), other.attemptAcquire()];
    const request = follow(createChainedRateLimiter(one, other).acquire());
    for (let turn = 0; turn < 2; turn++) {
      ofOne.dispose();
      ofOne = one.attemptAcquire();
      if (turn === 1) break;
      ofOther.dispose();
      ofOther = other.attemptAcquire();
    }
    // In the queue of the other limiter now, passed over three times; the queue of the first fills up.
    const waiting = follow(one.acquire());
    ofOther.dispose();
    await settled();
    expect(waiting.lease).toBeUndefined();
    expect(one.getStatistics().currentQueuedCount).toBe(2);
    ofOne.dispose();
    await settled();
    expect([request.lease?.isAcquired, waiting.lease]).toEqual([true, undefined]);
    request.lease!.dispose();
    await settled();
    expect(waiting.lease?.isAcquired).toBe(true);
  });
});
