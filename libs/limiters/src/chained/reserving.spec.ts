import {
  ConcurrencyLimiter,
  createChainedRateLimiter,
  FixedWindowRateLimiter,
  MetadataName,
  TokenBucketRateLimiter,
} from '../index.js';
import type { RateLimiter, RateLimitLease } from '../index.js';
import { FakeClock } from '../testing/index.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const WINDOW_MS = 100;

interface Progress {
  lease?: RateLimitLease;
  error?: unknown;
}

function follow(promise: Promise<RateLimitLease>): Progress {
  const progress: Progress = {};
  promise.then(
    (lease) => (progress.lease = lease),
    (error: unknown) => (progress.error = error),
  );
  return progress;
}

function retryAfterMs(lease: RateLimitLease): number | undefined {
  expect(lease.isAcquired).toBe(false);
  return lease.getMetadata(MetadataName.retryAfter);
}

/**
 * Requests of a chain are passed over until they reserve: at their turn in the rate what runs at once is taken, and
 * the other way round. Then they wait before everybody else in the rate, which is spent.
 */
class PassedOver {
  readonly clock = new FakeClock();
  readonly running: ConcurrencyLimiter;
  readonly rate: RateLimiter;
  /** A member that always has enough, and in which nobody ever waits. */
  readonly roomy: ConcurrencyLimiter;
  readonly chain: RateLimiter;
  running2: RateLimitLease[] = [];
  readonly #limit: number;

  constructor(createRate: (clock: FakeClock) => RateLimiter, limit: number) {
    this.#limit = limit;
    const options = { queueLimit: 10, clock: this.clock };
    // In the order in which requests reserve.
    this.roomy = new ConcurrencyLimiter({ ...options, permitLimit: 9 });
    this.rate = createRate(this.clock);
    this.running = new ConcurrencyLimiter({ ...options, permitLimit: 2 });
    this.chain = createChainedRateLimiter(this.rate, this.running, this.roomy);
  }

  /** Waits with so many permits each until all of these reserve. */
  async wait(permits: readonly number[], signal?: AbortSignal): Promise<Progress[]> {
    this.rate.attemptAcquire(this.#limit);
    this.#run();
    const requests = permits.map((count) => follow(this.chain.acquire(count, { signal })));
    for (let turn = 0; turn < 2; turn++) {
      this.clock.advance(WINDOW_MS);
      this.rate.attemptAcquire(this.#limit);
      this.endWork();
      this.#run();
    }
    await settled();
    return requests;
  }

  /** What runs ends, one permit after the other. */
  endWork(): void {
    for (const lease of this.running2.splice(0)) lease.dispose();
  }

  #run(): void {
    this.running2 = [this.running.attemptAcquire(1), this.running.attemptAcquire(1)];
    expect(this.running2.every((lease) => lease.isAcquired)).toBe(true);
  }
}

const fixedWindow = (clock: FakeClock): RateLimiter =>
  new FixedWindowRateLimiter({ permitLimit: 3, windowMs: WINDOW_MS, queueLimit: 10, clock });

const bucket = (clock: FakeClock): RateLimiter =>
  new TokenBucketRateLimiter({
    tokenLimit: 3,
    tokensPerPeriod: 3,
    replenishmentPeriodMs: WINDOW_MS,
    queueLimit: 10,
    clock,
  });

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

  it('makes the time unknown at which more could be had than is left beside it', async () => {
    const trial = new PassedOver(fixedWindow, 3);
    await trial.wait([2]);
    trial.clock.advance(WINDOW_MS);
    expect(retryAfterMs(trial.rate.attemptAcquire(2))).toBeUndefined();
    expect(trial.rate.attemptAcquire(1).isAcquired).toBe(true);
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
