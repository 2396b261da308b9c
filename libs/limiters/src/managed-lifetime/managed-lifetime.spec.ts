import { stateOf } from '../../conformance/linked/visits.js';
import type { LifetimeRegistrar, ManagedLifetimeFactory } from '../index.js';
import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  getManagedLifetimeLimiter,
  ManagedLifetimeLimiter,
  RateLimiter,
  ReplenishingRateLimiter,
  RateLimitPartition,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

/** A partitioned limiter whose partitions live until they are told to end. */
function managed(
  factory: ManagedLifetimeFactory<string>,
  options: { clock?: FakeClock; maxPartitions?: number; registrar?: LifetimeRegistrar<string> } = {},
) {
  const { clock = new FakeClock(), maxPartitions, registrar } = options;
  const owned = new Map<string, ManagedLifetimeLimiter>();
  const limiter = createPartitionedRateLimiter(
    (key: string) =>
      getManagedLifetimeLimiter(key, factory, registrar ?? ((own, name) => void owned.set(name, own))),
    { clock, maxPartitions, idleTimeoutMs: 1000 },
  );
  return { clock, owned, limiter };
}

const two: ManagedLifetimeFactory<string> = (key) =>
  RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 2, queueLimit: 2 }));

describe('a partition with a managed lifetime', () => {
  it('is made once, and handed to whoever decides about its life', () => {
    const registered: unknown[] = [];
    const { limiter } = managed(two, { registrar: (own, key) => registered.push(own, key) });
    limiter.attemptAcquire('a');
    limiter.attemptAcquire('a');
    expect(registered).toEqual([expect.any(ManagedLifetimeLimiter), 'a']);
  });

  it.each<[string, ManagedLifetimeFactory<string>]>([
    ['held permits', two],
    ['an own limiter', () => new ConcurrencyLimiter({ permitLimit: 2 })],
    [
      'a rate',
      (key) => RateLimitPartition.getFixedWindowLimiter(key, () => ({ permitLimit: 2, windowMs: 10 })),
    ],
  ])('is never thrown away while it lives, and at the next look afterwards: %s', (_name, factory) => {
    const { clock, owned, limiter } = managed(factory);
    limiter.attemptAcquire('a').dispose();
    const first = owned.get('a')!;

    clock.advance(3_600_000);
    expect(limiter.partitionCount).toBe(1);
    expect(limiter.attemptAcquire('a').isAcquired).toBe(true);
    expect(owned.get('a')).toBe(first);

    first.dispose();
    clock.advance(300);
    expect(limiter.partitionCount).toBe(0);
  });

  it('is followed by a new one for the next request after its end', () => {
    const { owned, limiter } = managed(two);
    limiter.attemptAcquire('a', 2);
    const first = owned.get('a')!;
    expect(limiter.attemptAcquire('a').isAcquired).toBe(false);

    first.dispose();
    expect(limiter.attemptAcquire('a', 2).isAcquired).toBe(true);
    expect(owned.get('a')).not.toBe(first);
  });

  it('makes room under a cap as soon as it ends', () => {
    const { owned, limiter } = managed(two, { maxPartitions: 1 });
    limiter.attemptAcquire('a');
    expect(limiter.attemptAcquire('b').isAcquired).toBe(false);
    owned.get('a')!.dispose();
    expect(limiter.attemptAcquire('b').isAcquired).toBe(true);
  });

  it('overflows no stack of a search for room, however many have ended before', () => {
    const { clock, owned, limiter } = managed(two, { maxPartitions: 30_000 });
    const fill = (): void => {
      for (let key = 0; key < 30_000; key++) limiter.attemptAcquire(String(key));
    };
    fill();
    for (const own of [...owned.values()]) own.dispose();
    clock.skip(500);
    fill();
    clock.skip(60_000);
    expect([limiter.attemptAcquire('new').isAcquired, limiter.partitionCount]).toEqual([false, 30_000]);
    owned.get('7')!.dispose();
    expect(limiter.attemptAcquire('new').isAcquired).toBe(true);
  });

  it('refuses those who wait when it ends, also in chains', async () => {
    const { owned, limiter } = managed(two);
    const chain = createChainedPartitionedRateLimiter(limiter);
    limiter.attemptAcquire('a', 2);
    const waiting = [limiter.acquire('a'), chain.acquire('a')];
    expect(await stateOf(waiting[1]!)).toBe('pending');

    owned.get('a')!.dispose();
    for (const one of waiting) expect(await stateOf(one)).toBe('refused: Limiter disposed');
    expect((await chain.acquire('a', 2)).isAcquired).toBe(true);
  });

  it('asks its options again with all others', () => {
    let permitLimit = 1;
    const { limiter } = managed((key) =>
      RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit })),
    );
    limiter.attemptAcquire('a');
    permitLimit = 3;
    limiter.refreshOptions();
    expect(limiter.attemptAcquire('a', 2).isAcquired).toBe(true);
  });
});

describe('a factory or a registrar that fails', () => {
  it('disposes what was built, and the request gets the error', () => {
    const built: ConcurrencyLimiter[] = [];
    let isBroken = true;
    const { limiter } = managed(
      () => {
        built.push(new ConcurrencyLimiter({ permitLimit: 1 }));
        return built.at(-1)!;
      },
      {
        registrar: () => {
          if (isBroken) throw new Error('no owner');
        },
      },
    );
    expect(() => limiter.attemptAcquire('a')).toThrow(/^no owner$/);
    expect(() => built[0]!.attemptAcquire()).toThrow(/ConcurrencyLimiter was disposed/);
    expect(limiter.partitionCount).toBe(0);

    isBroken = false;
    expect(limiter.attemptAcquire('a').isAcquired).toBe(true);
  });

  it('reports both errors where ending what was built fails too', () => {
    class Clinging extends ConcurrencyLimiter {
      override dispose(): void {
        throw new Error('can not end');
      }
    }
    const { limiter } = managed(() => new Clinging({ permitLimit: 1 }), {
      registrar: () => {
        throw new Error('no owner');
      },
    });
    expect(() => limiter.attemptAcquire('a')).toThrow(AggregateError);
  });

  it('names itself and the key', () => {
    const { limiter } = managed(() => 5 as never);
    expect(() => limiter.attemptAcquire('a')).toThrow(
      /^The factory of getManagedLifetimeLimiter must return a limiter or a partition, but for the key "a" it returned 5/,
    );
    expect(() => getManagedLifetimeLimiter('a', two, undefined as never)).toThrow(
      /^getManagedLifetimeLimiter needs a function as its registrar for the key "a", but got undefined/,
    );
    expect(() => new ManagedLifetimeLimiter({} as never)).toThrow(
      /^A ManagedLifetimeLimiter needs a RateLimiter/,
    );
  });
});

describe('a managed limiter', () => {
  it('is what the inner one is, but for its idleness', async () => {
    const clock = new FakeClock();
    const inner = new FixedWindowRateLimiter({
      permitLimit: 2,
      windowMs: 100,
      queueLimit: 1,
      autoReplenishment: false,
      clock,
    });
    const limiter = new ManagedLifetimeLimiter(inner);

    expect(limiter).toBeInstanceOf(RateLimiter);
    expect(limiter instanceof ReplenishingRateLimiter).toBe(true);
    expect(
      new ManagedLifetimeLimiter(new ConcurrencyLimiter({ permitLimit: 1 })) instanceof
        ReplenishingRateLimiter,
    ).toBe(false);
    expect([limiter.isAutoReplenishing, limiter.replenishmentPeriodMs]).toEqual([false, 100]);
    expect(limiter.attemptAcquire(2).isAcquired).toBe(true);
    const waiting = limiter.acquire(1);
    expect(limiter.getStatistics()).toEqual(inner.getStatistics());
    clock.advance(100);
    expect(limiter.tryReplenish()).toBe(true);
    expect(await stateOf(waiting)).toBe('granted');
    expect(() => limiter.attemptAcquire(3)).toThrow(RangeError);
    await expect(limiter.acquire(3, { signal: AbortSignal.abort('gone') })).rejects.toThrow(RangeError);
    await expect(limiter.acquire(1, { signal: AbortSignal.abort('gone') })).rejects.toBe('gone');

    expect(limiter.idleDurationMs).toBeNull();
    limiter.dispose();
    limiter.dispose();
    expect(limiter.idleDurationMs).toBe(Infinity);
    expect(() => limiter.attemptAcquire()).toThrow(/FixedWindowRateLimiter was disposed/);
  });

  it('takes part in chains as the inner one does', () => {
    const inner = new ConcurrencyLimiter({ permitLimit: 1 });
    const other = new FixedWindowRateLimiter({ permitLimit: 5, windowMs: 100 });
    const chain = createChainedRateLimiter(other, new ManagedLifetimeLimiter(inner));
    chain.attemptAcquire();
    expect(chain.attemptAcquire().isAcquired).toBe(false);
    expect(other.getStatistics().currentAvailablePermits).toBe(4);
  });
});
