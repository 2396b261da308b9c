import {
  bucket,
  fixedWindow,
  follow,
  lumps,
  PassedOver,
  retryAfterMs,
  settled,
  slidingWindow,
  WINDOW_MS,
} from '../../conformance/chained/passed-over.js';
import { MetadataName } from '../index.js';
import type { FixedWindowRateLimiter } from '../index.js';

describe('what a request of a chain has set aside', () => {
  it.each([
    ['window', fixedWindow, [WINDOW_MS, WINDOW_MS]],
    ['sliding window', slidingWindow, [WINDOW_MS, WINDOW_MS]],
    ['bucket', bucket, [Math.ceil(WINDOW_MS / 3), Math.ceil((2 * WINDOW_MS) / 3)]],
    ['bucket of lumps', lumps, [WINDOW_MS, WINDOW_MS]],
  ])(
    'of a %s leaves too little beside it until what the request takes has come back: then the others are told to come',
    async (_kind, create, [ofTwoMs, ofThreeMs]) => {
      const trial = new PassedOver(create, 3);
      const [request] = await trial.wait([2]);
      trial.clock.advance(WINDOW_MS);
      const { rate, clock } = trial;
      expect(retryAfterMs(rate.attemptAcquire(2))).toBe(ofTwoMs);
      expect(retryAfterMs(rate.attemptAcquire(3))).toBe(ofThreeMs);
      trial.endWork();
      await settled();
      expect(request!.lease?.isAcquired).toBe(true);
      clock.advance(ofTwoMs! - 1);
      expect(rate.attemptAcquire(2).isAcquired).toBe(false);
      clock.advance(1);
      expect(rate.attemptAcquire(2).isAcquired).toBe(true);
    },
  );

  it('tells to come back also where it is everything, and somebody waits, and a limit is lowered under it', async () => {
    const trial = new PassedOver(fixedWindow, 3);
    await trial.wait([2, 1]);
    trial.clock.advance(WINDOW_MS + 30);
    const rate = trial.rate as FixedWindowRateLimiter;
    expect(retryAfterMs(rate.attemptAcquire(0))).toBe(WINDOW_MS - 30);
    void rate.acquire(3);
    expect(retryAfterMs(rate.attemptAcquire(1))).toBe(2 * WINDOW_MS - 30);
    rate.updateOptions({ permitLimit: 2 });
    expect(retryAfterMs(rate.attemptAcquire(2))).toBe(WINDOW_MS - 30);
  });

  it('sets no timer for who waits behind it: only its end can help', async () => {
    const trial = new PassedOver(fixedWindow, 3);
    await trial.wait([2]);
    trial.clock.advance(WINDOW_MS);
    const before = trial.clock.pendingTimers;
    const waiting = follow(trial.rate.acquire(2));
    expect(trial.clock.pendingTimers).toBe(before);
    const impatient = await trial.rate.acquire(1, { maxWaitMs: WINDOW_MS - 1 });
    expect(retryAfterMs(impatient)).toBe(WINDOW_MS);
    expect(impatient.getMetadata(MetadataName.reasonPhrase)).toBe('Wait limit reached');
    trial.endWork();
    trial.clock.advance(WINDOW_MS);
    await settled();
    expect(waiting.lease?.isAcquired).toBe(true);
  });

  it('comes before those who wait, for whoever comes behind them', async () => {
    const trial = new PassedOver(bucket, 3);
    await trial.wait([1]);
    trial.clock.advance(WINDOW_MS);
    const { rate } = trial;
    expect(rate.attemptAcquire(2).isAcquired).toBe(true);
    void rate.acquire(2);
    // One is set aside and there, two are awaited, and this one.
    expect(retryAfterMs(rate.attemptAcquire(1))).toBe(WINDOW_MS);
    // Of a window two are left beside it, which those who wait take at the next boundary.
    const other = new PassedOver(fixedWindow, 3);
    await other.wait([1]);
    other.clock.advance(WINDOW_MS + 30);
    expect(other.rate.attemptAcquire(2).isAcquired).toBe(true);
    void other.rate.acquire(2);
    expect(retryAfterMs(other.rate.attemptAcquire(1))).toBe(WINDOW_MS - 30);
    expect(retryAfterMs(other.rate.attemptAcquire(2))).toBe(2 * WINDOW_MS - 30);
  });
});
