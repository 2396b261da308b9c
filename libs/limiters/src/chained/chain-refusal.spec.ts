import {
  ConcurrencyLimiter,
  createChainedRateLimiter,
  FixedWindowRateLimiter,
  RateLimiter,
  RateLimitLease,
  refusedMember,
  retryAfterOfAll,
  SlidingWindowRateLimiter,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

const clock = new FakeClock();

function spentWindow(windowMs: number): FixedWindowRateLimiter {
  const limiter = new FixedWindowRateLimiter({ permitLimit: 1, windowMs, clock });
  limiter.attemptAcquire();
  return limiter;
}

function busy(): ConcurrencyLimiter {
  const limiter = new ConcurrencyLimiter({ permitLimit: 2, clock });
  limiter.attemptAcquire(2);
  return limiter;
}

/** Refuses, with some value in the place of a number of milliseconds. */
class Refusing extends RateLimiter {
  readonly #retryAfter: unknown;

  constructor(retryAfter: unknown) {
    super();
    this.#retryAfter = retryAfter;
  }

  override get idleDurationMs(): null {
    return null;
  }

  override getStatistics(): null {
    return null;
  }

  protected override attemptAcquireCore(): RateLimitLease {
    const value = this.#retryAfter;
    return new (class extends RateLimitLease {
      override readonly isAcquired = false;
      override readonly metadataNames = ['RETRY_AFTER'];
      override getMetadata(): undefined {
        return value as undefined;
      }
    })();
  }

  protected override async acquireCore(): Promise<RateLimitLease> {
    return this.attemptAcquireCore();
  }
}

describe('when all members of a chain would let a request pass', () => {
  it.each([
    ['the wait of the one that refused, if it is the longest', [5_000, 1_000], 5_000],
    ['that of another that would refuse too, if it is longer', [1_000, 5_000, 300], 5_000],
  ])('is %s', (_what, windows, expected) => {
    const refused = createChainedRateLimiter(...windows.map(spentWindow)).attemptAcquire();
    expect([refusedMember(refused), retryAfterOfAll(refused)]).toEqual([0, expected]);
  });

  it('is not asked of those that would grant', () => {
    const rate = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1_000, clock });
    expect(retryAfterOfAll(createChainedRateLimiter(busy(), rate).attemptAcquire())).toBeUndefined();
  });

  it('is what those know that can tell', () => {
    expect(retryAfterOfAll(createChainedRateLimiter(spentWindow(700), busy()).attemptAcquire())).toBe(700);
    expect(retryAfterOfAll(createChainedRateLimiter(busy(), spentWindow(700)).attemptAcquire())).toBe(700);
  });

  it('is when a member that stands twice has enough for both', () => {
    const rate = new SlidingWindowRateLimiter({ permitLimit: 4, windowMs: 400, segmentsPerWindow: 4, clock });
    rate.attemptAcquire(2);
    clock.advance(100);
    rate.attemptAcquire(1);
    const chain = createChainedRateLimiter(busy(), rate, rate);
    // One is left, of the two that each request takes; two more come back in 300 ms.
    expect(retryAfterOfAll(chain.attemptAcquire(1))).toBe(300);
    // For the fourth the second segment has to come back, too.
    expect(retryAfterOfAll(chain.attemptAcquire(2))).toBe(400);
  });

  it('is what the refusal says where no chain was asked, if that is a number', () => {
    expect(retryAfterOfAll(spentWindow(250).attemptAcquire())).toBe(250);
    expect(retryAfterOfAll(new Refusing(12).attemptAcquire())).toBe(12);
    expect(retryAfterOfAll(new Refusing('soon').attemptAcquire())).toBeUndefined();
    expect(retryAfterOfAll(createChainedRateLimiter(busy(), new Refusing('soon')).attemptAcquire())).toBe(
      undefined,
    );
  });
});

/** Grants, or throws what it is told to. */
class Foreign extends RateLimiter {
  readonly #inner = new ConcurrencyLimiter({ permitLimit: 9 });
  readonly #thrown: unknown;

  constructor(thrown?: unknown) {
    super();
    this.#thrown = thrown;
  }

  override get idleDurationMs(): null {
    return null;
  }

  override getStatistics(): null {
    return null;
  }

  protected override attemptAcquireCore(permitCount: number): RateLimitLease {
    if (this.#thrown !== undefined) throw this.#thrown as Error;
    return this.#inner.attemptAcquire(permitCount);
  }

  protected override async acquireCore(permitCount: number): Promise<RateLimitLease> {
    return this.attemptAcquireCore(permitCount);
  }
}

describe('an error of a chain that asks its members one after the other', () => {
  async function thrownBy(chain: RateLimiter, permitCount: number): Promise<unknown[]> {
    const thrown: unknown[] = [];
    try {
      chain.attemptAcquire(permitCount);
    } catch (error) {
      thrown.push(error);
    }
    await chain.acquire(permitCount).catch((error: unknown) => thrown.push(error));
    return thrown;
  }

  it('names the member whose limit the count is above, of a chain within the one that contains it', async () => {
    const inner = createChainedRateLimiter(new Foreign(), new ConcurrencyLimiter({ permitLimit: 2 }));
    const outer = createChainedRateLimiter(new Foreign(), new Foreign(), inner);
    const ofInner = await thrownBy(inner, 3);
    expect(ofInner.map((error) => refusedMember(error as Error))).toEqual([1, 1]);
    const ofOuter = await thrownBy(outer, 3);
    expect(ofOuter.map((error) => refusedMember(error as Error))).toEqual([2, 2]);
  });

  it.each([[new Error('boom')], [Object.freeze(new Error('boom'))], [null], ['boom']])(
    'is handed on as it is where it is another: %p',
    async (thrown) => {
      expect(await thrownBy(createChainedRateLimiter(new Foreign(), new Foreign(thrown)), 1)).toEqual([
        thrown,
        thrown,
      ]);
      expect(Object.keys(Object.getOwnPropertyDescriptors(thrown ?? {}))).not.toContain('member');
    },
  );
});
