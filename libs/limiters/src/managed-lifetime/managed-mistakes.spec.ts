import {
  chainParticipants,
  ConcurrencyLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  getManagedLifetimeLimiter,
  ManagedLifetimeLimiter,
  MetadataName,
  RateLimiter,
  RateLimitLease,
  RateLimitPartition,
} from '../index.js';
import type { ManagedLifetimeFactory } from '../index.js';
import { FakeClock } from '../testing/index.js';

const running = (permitLimit = 1): ConcurrencyLimiter =>
  new ConcurrencyLimiter({ permitLimit, queueLimit: 1 });

function managed(factory: ManagedLifetimeFactory<string>, registrar: () => void = () => undefined) {
  return createPartitionedRateLimiter((key: string) => getManagedLifetimeLimiter(key, factory, registrar));
}

const mistake = (message: string): Error =>
  expect.objectContaining({ code: 'ERR_RL_INVALID_ARGUMENT', message }) as Error;

describe('a limiter with a managed lifetime', () => {
  it.each<[string, string, () => unknown]>([
    [
      'no limiter',
      'A ManagedLifetimeLimiter needs a RateLimiter, but got null.',
      () => new ManagedLifetimeLimiter(null as never),
    ],
    [
      'no factory',
      'getManagedLifetimeLimiter needs a function as its factory for the key "k", but got 1.',
      () => getManagedLifetimeLimiter('k', 1 as never, () => undefined),
    ],
    [
      'no registrar',
      'getManagedLifetimeLimiter needs a function as its registrar for the key "k", but got undefined.',
      () => getManagedLifetimeLimiter('k', () => running(), undefined as never),
    ],
    [
      'a factory that returns nothing',
      'The factory of getManagedLifetimeLimiter must return a limiter or a partition, but for the key "k" it returned null.',
      () => managed(() => null as never).attemptAcquire('k'),
    ],
    [
      'a name of metadata that is none',
      'A metadata name must be a string, but got 5.',
      () => MetadataName.create(5 as never),
    ],
  ])('is an error with %s', (_what, message, make) => {
    expect(make).toThrow(mistake(message));
  });

  it('is an error where the factory returns something else when it is asked again', () => {
    let made: 'partition' | 'limiter' = 'partition';
    const extra = running();
    const limiter = managed((key) =>
      made === 'partition'
        ? RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1 }))
        : extra,
    );
    limiter.attemptAcquire('first');
    limiter.attemptAcquire('k');
    made = 'limiter';
    limiter.refreshOptions();
    expect(() => limiter.attemptAcquire('k')).toThrow(
      mistake(
        'The factory of getManagedLifetimeLimiter returned a partition for the key "k" at first, and a limiter when asked again.',
      ),
    );
    // It is of no use to anybody.
    expect(() => extra.attemptAcquire()).toThrow(/disposed/);
  });

  it('is not asked again where it is a limiter, or a partition that can’t be refreshed', () => {
    let calls = 0;
    const limiter = managed((key) => {
      calls++;
      return key === 'limiter' ? running() : RateLimitPartition.get(key, () => running());
    });
    for (const key of ['limiter', 'partition']) limiter.attemptAcquire(key);
    limiter.refreshOptions();
    for (const key of ['limiter', 'partition']) expect(limiter.attemptAcquire(key).isAcquired).toBe(false);
    expect(calls).toBe(3);
  });

  it('that nobody takes over, and that fails to end, tells both', () => {
    class Immortal extends ConcurrencyLimiter {
      override dispose(): void {
        throw new Error('never');
      }
    }
    const limiter = managed(
      () => new Immortal({ permitLimit: 1 }),
      () => {
        throw new Error('not mine');
      },
    );
    expect(() => limiter.attemptAcquire('k')).toThrow(
      expect.objectContaining({
        message: 'A limiter of getManagedLifetimeLimiter failed to end.',
        errors: [new Error('never'), new Error('not mine')],
      }) as Error,
    );
  });

  it('ends once', () => {
    let ends = 0;
    class Counting extends ConcurrencyLimiter {
      override dispose(): void {
        ends++;
      }
    }
    const limiter = new ManagedLifetimeLimiter(new Counting({ permitLimit: 1 }));
    limiter.dispose();
    limiter.dispose();
    expect(ends).toBe(1);
    expect(limiter[chainParticipants]()).toBeNull();
  });

  it('ends a wait in a chain with itself, though the limiter in it lives on', async () => {
    const inner = running();
    const held = inner.attemptAcquire();
    class Undying extends ConcurrencyLimiter {}
    const kept = new Undying({ permitLimit: 1, queueLimit: 1 });
    kept.dispose = () => undefined;
    const limiter = new ManagedLifetimeLimiter(kept);
    const waiting = createChainedRateLimiter(inner, limiter).acquire();
    limiter.dispose();
    held.dispose();
    expect((await waiting).getMetadata(MetadataName.reasonPhrase)).toBe('Limiter disposed');
  });

  it('decides as the limiter in it, by a subclass too', async () => {
    class Asking extends ManagedLifetimeLimiter {
      now(): RateLimitLease {
        return this.attemptAcquireCore(1);
      }
      later(signal?: AbortSignal): Promise<RateLimitLease> {
        return this.acquireCore(1, signal);
      }
    }
    const limiter = new Asking(running());
    const held = limiter.now();
    expect([held.isAcquired, limiter.now().isAcquired]).toEqual([true, false]);
    const abort = new AbortController();
    const waiting = limiter.later(abort.signal);
    abort.abort('gone');
    await expect(waiting).rejects.toBe('gone');
  });
});

describe('a subclass with decisions of its own', () => {
  class Counting extends ManagedLifetimeLimiter {
    asked = 0;
    protected override attemptAcquireCore(permits: number): RateLimitLease {
      this.asked++;
      return super.attemptAcquireCore(permits);
    }
  }

  it('waits as the limiter in it, by its clock and with the signal', async () => {
    const clock = new FakeClock();
    const limiter = new Counting(new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 2, clock }));
    expect(limiter.attemptAcquire().isAcquired).toBe(true);
    const waiting = limiter.acquire(1, { maxWaitMs: 50 });
    const abort = new AbortController();
    const gone = limiter.acquire(1, { maxWaitMs: 60_000, signal: abort.signal });
    abort.abort('gone');
    await expect(gone).rejects.toBe('gone');
    expect(limiter.getStatistics()!.currentQueuedCount).toBe(1);
    clock.advance(50);
    expect((await waiting).getMetadata(MetadataName.reasonPhrase)).toBe('Wait limit reached');
    expect(limiter.asked).toBe(1);
  });
});

describe('a limiter of another maker', () => {
  class Plain extends RateLimiter {
    ends = 0;
    readonly signals: unknown[] = [];
    override readonly idleDurationMs = null;
    override getStatistics(): null {
      return null;
    }
    override dispose(): void {
      this.ends++;
    }
    protected override attemptAcquireCore(permits: number): RateLimitLease {
      return running(9).attemptAcquire(permits);
    }
    protected override async acquireCore(permits: number, signal?: AbortSignal): Promise<RateLimitLease> {
      this.signals.push(signal);
      return this.attemptAcquireCore(permits);
    }
  }

  it('ends with `using`, and says that it needs nobody to replenish it', async () => {
    const limiter = new Plain();
    limiter[Symbol.dispose]();
    await limiter[Symbol.asyncDispose]();
    expect(limiter.ends).toBe(2);
    expect([limiter.isAutoReplenishing, limiter.replenishmentPeriodMs, limiter.tryReplenish()]).toEqual([
      true,
      Infinity,
      false,
    ]);
  });

  it('is given the caller’s own signal where the wait has no limit', async () => {
    const limiter = new Plain();
    const { signal } = new AbortController();
    await limiter.acquire(1, { signal, maxWaitMs: Infinity });
    expect(limiter.signals).toEqual([signal]);
  });

  it('has leases that are told from others by their class', () => {
    class Own extends RateLimitLease {
      override readonly isAcquired = true;
      override readonly metadataNames = [];
      override getMetadata(): undefined {
        return undefined;
      }
    }
    const [own, other] = [new Own(), running().attemptAcquire()];
    expect([own instanceof Own, own instanceof RateLimitLease]).toEqual([true, true]);
    expect([other instanceof Own, other instanceof RateLimitLease]).toEqual([false, true]);
  });
});
