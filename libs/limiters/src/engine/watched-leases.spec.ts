import type { LostLease } from '../index.js';

type Package = typeof import('../index.js');

/** A garbage collector that collects what it is told to. */
class FakeRegistry {
  static last: FakeRegistry | undefined;
  readonly watched = new Map<object, { readonly held: unknown; readonly token: object | undefined }>();
  readonly #found: (held: unknown) => void;

  constructor(found: (held: unknown) => void) {
    this.#found = found;
    FakeRegistry.last = this;
  }

  register(target: object, held: unknown, token?: object): void {
    this.watched.set(target, { held, token });
  }

  unregister(token: object): void {
    for (const [target, { token: own }] of this.watched) if (own === token) this.watched.delete(target);
  }

  collect(target: object): void {
    const entry = this.watched.get(target);
    this.watched.delete(target);
    if (entry !== undefined) this.#found(entry.held);
  }
}

/** The package, loaded with that collector. */
function load(): Package & { readonly collector: FakeRegistry } {
  const real = globalThis.FinalizationRegistry;
  let loaded: Package | undefined;
  globalThis.FinalizationRegistry = FakeRegistry as unknown as typeof real;
  jest.isolateModules(() => {
    loaded = jest.requireActual<Package>('../index.js');
  });
  globalThis.FinalizationRegistry = real;
  return { ...loaded!, collector: FakeRegistry.last! };
}

describe('leases that are watched', () => {
  it('are reported once the collector finds them, with where they were acquired', () => {
    const { ConcurrencyLimiter, reportLostLeases, collector } = load();
    const lost: LostLease[] = [];
    reportLostLeases((lease) => lost.push(lease));
    const limiter = new ConcurrencyLimiter({ permitLimit: 3 });
    const lease = limiter.attemptAcquire(2);
    expect(lost).toEqual([]);
    collector.collect(lease);
    expect(lost).toEqual([
      {
        limiter: 'ConcurrencyLimiter',
        permits: 2,
        acquiredAt: expect.stringMatching(/^Error: acquired here\n[^]*watched-leases\.spec/) as string,
      },
    ]);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(3);
  });

  it('are told to everybody who listens', () => {
    const { ConcurrencyLimiter, reportLostLeases, collector } = load();
    const told: string[] = [];
    const stop = reportLostLeases(() => told.push('one'));
    reportLostLeases(() => told.push('other'));
    const limiter = new ConcurrencyLimiter({ permitLimit: 3 });
    collector.collect(limiter.attemptAcquire());
    const later = limiter.attemptAcquire();
    stop();
    collector.collect(later);
    expect(told).toEqual(['one', 'other', 'other']);
  });

  it('are no more when they were disposed', () => {
    const { ConcurrencyLimiter, reportLostLeases, collector } = load();
    reportLostLeases(() => undefined);
    const limiter = new ConcurrencyLimiter({ permitLimit: 3 });
    const lease = limiter.attemptAcquire();
    expect(collector.watched.size).toBe(1);
    lease.dispose();
    expect(collector.watched.size).toBe(0);
  });

  it('give nothing back that a reset has given back already', () => {
    const { ConcurrencyLimiter, reportLostLeases, collector } = load();
    reportLostLeases(() => undefined);
    const limiter = new ConcurrencyLimiter({ permitLimit: 3 });
    const lease = limiter.attemptAcquire(2);
    limiter.reset();
    limiter.attemptAcquire(3);
    collector.collect(lease);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(0);
  });

  it('are those that hold something, while somebody listens', () => {
    const { ConcurrencyLimiter, FixedWindowRateLimiter, reportLostLeases, collector } = load();
    const limiter = new ConcurrencyLimiter({ permitLimit: 3 });
    limiter.attemptAcquire();
    const stop = reportLostLeases(() => undefined);
    limiter.attemptAcquire(0);
    new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1_000 }).attemptAcquire();
    stop();
    limiter.attemptAcquire();
    expect(collector.watched.size).toBe(0);
  });

  it('aren’t looked for again by the end of one that is not watched', () => {
    const { ConcurrencyLimiter, reportLostLeases, collector } = load();
    const lease = new ConcurrencyLimiter({ permitLimit: 3 }).attemptAcquire();
    const unregister = jest.spyOn(collector, 'unregister');
    reportLostLeases(() => undefined);
    lease.dispose();
    expect(unregister).not.toHaveBeenCalled();
  });
});
