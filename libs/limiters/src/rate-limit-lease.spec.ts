import {
  ConcurrencyLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  MetadataName,
  RateLimitLease,
  RateLimitPartition,
} from './index.js';
import type { RateLimiter } from './index.js';
import { FakeClock } from './testing/index.js';

function available(limiter: RateLimiter): number | undefined {
  return limiter.getStatistics()?.currentAvailablePermits;
}

describe('disposing a lease', () => {
  it('gives back once, however often it is done', () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 3 });
    const [first, second] = [limiter.attemptAcquire(2), limiter.attemptAcquire(1)];
    for (let time = 0; time < 3; time++) first.dispose();
    expect(available(limiter)).toBe(2);
    limiter.attemptAcquire(2);
    first.dispose();
    expect(available(limiter)).toBe(0);
    second.dispose();
    expect(available(limiter)).toBe(1);
  });

  it('gives nothing back that it never held', () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 1 });
    limiter.attemptAcquire();
    const refused = limiter.attemptAcquire();
    for (let time = 0; time < 5; time++) refused.dispose();
    expect(available(limiter)).toBe(0);
  });

  it('gives nothing back for a request for no permits', () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 1 });
    const none = limiter.attemptAcquire(0);
    limiter.attemptAcquire();
    none.dispose();
    expect(available(limiter)).toBe(0);
  });

  it('happens by itself at the end of a using block, also when that is left by an error', () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 1 });
    const work = (): void => {
      using lease = limiter.attemptAcquire();
      expect(lease.isAcquired).toBe(true);
      expect(available(limiter)).toBe(0);
      throw new Error('the work failed');
    };
    expect(work).toThrow('the work failed');
    expect(available(limiter)).toBe(1);
  });

  it('happens once when a using block and the code both do it', () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 2 });
    limiter.attemptAcquire();
    {
      using lease = limiter.attemptAcquire();
      lease.dispose();
    }
    expect(available(limiter)).toBe(1);
  });

  it('is harmless after the end of the limiter', () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 2 });
    const lease = limiter.attemptAcquire();
    limiter.dispose();
    lease.dispose();
    lease.dispose();
    expect(available(limiter)).toBe(1);
  });

  it('gives nothing back to a rate, whatever the order', () => {
    const limiter = new FixedWindowRateLimiter({ permitLimit: 2, windowMs: 1_000, clock: new FakeClock() });
    const leases = [limiter.attemptAcquire(), limiter.attemptAcquire()];
    for (const lease of leases.reverse()) lease.dispose();
    expect(available(limiter)).toBe(0);
  });

  it('of a chain gives back in every member, once', () => {
    const members = [new ConcurrencyLimiter({ permitLimit: 2 }), new ConcurrencyLimiter({ permitLimit: 2 })];
    const lease = createChainedRateLimiter(...members).attemptAcquire(2);
    lease.dispose();
    lease.dispose();
    expect(members.map(available)).toEqual([2, 2]);
    expect(lease.isAcquired).toBe(true);
    expect([...lease.metadataNames]).toEqual([]);
  });
});

describe('the metadata of a lease', () => {
  const names = ['toString', '__proto__', 'constructor', 'hasOwnProperty', '', 'retry_after'];

  function leases(): Record<string, RateLimitLease> {
    const clock = new FakeClock();
    const rate = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1_000, clock });
    const running = new ConcurrencyLimiter({ permitLimit: 1 });
    const chain = createChainedRateLimiter(running, rate);
    const granted = chain.attemptAcquire();
    return {
      'granted by a chain': granted,
      'refused by a rate': rate.attemptAcquire(),
      'refused by a concurrency limiter': running.attemptAcquire(),
      'refused by a chain': chain.attemptAcquire(),
      granted: new ConcurrencyLimiter({ permitLimit: 1 }).attemptAcquire(),
    };
  }

  it.each(Object.keys(leases()))('%s has nothing under names that objects have', (which) => {
    const lease = leases()[which]!;
    for (const name of names) {
      expect(lease.getMetadata(name)).toBeUndefined();
      expect(lease.getMetadata(MetadataName.create(name))).toBeUndefined();
    }
  });

  it.each(Object.keys(leases()))('%s lists only names that have a value, and all of these', (which) => {
    const lease = leases()[which]!;
    const all = [...lease.allMetadata()];
    expect(all.map(([name]) => name)).toEqual([...lease.metadataNames]);
    for (const [name, value] of all) {
      expect(value).toBeDefined();
      expect(lease.getMetadata(MetadataName.create(name))).toBe(value);
    }
    for (const name of [MetadataName.retryAfter, MetadataName.reasonPhrase]) {
      const isListed = [...lease.metadataNames].includes(name.name);
      expect(lease.getMetadata<unknown>(name) !== undefined).toBe(isListed);
    }
  });

  it('of a granted lease is none', () => {
    expect([...leases()['granted']!.allMetadata()]).toEqual([]);
  });

  it('of a refusal by a rate says when to come back, by a concurrency limiter why', () => {
    const all = leases();
    expect(all['refused by a rate']!.getMetadata(MetadataName.retryAfter)).toBe(1_000);
    expect(Object.fromEntries(all['refused by a concurrency limiter']!.allMetadata())).toEqual({
      REASON_PHRASE: 'Permit limit reached',
    });
  });

  it('has names that are equal when their text is', () => {
    expect(String(MetadataName.retryAfter)).toBe('RETRY_AFTER');
    expect(MetadataName.reasonPhrase.name).toBe('REASON_PHRASE');
    expect(() => MetadataName.create(1 as never)).toThrow(TypeError);
  });
});

describe('a lease', () => {
  it('is recognised as one, and only what is one', () => {
    expect(new ConcurrencyLimiter({ permitLimit: 1 }).attemptAcquire()).toBeInstanceOf(RateLimitLease);
    for (const other of [null, undefined, {}, 'lease', { isAcquired: true }]) {
      expect(other instanceof RateLimitLease).toBe(false);
    }
  });
});

describe('a lease in a log', () => {
  it('is what it tells, not the numbers of all other keys', () => {
    const limiter = createPartitionedRateLimiter((key: string) =>
      RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 2 })),
    );
    for (let user = 0; user < 500; user++) limiter.attemptAcquire(`user ${user}`);
    const lease = limiter.attemptAcquire('user 1');
    const quota = [{ limit: 2, remaining: 0, member: 0 }];
    expect(JSON.parse(JSON.stringify({ lease }))).toEqual({
      lease: { isAcquired: true, metadata: {}, quota },
    });
    limiter.dispose();
  });

  it('says why it was refused, also by a chain', () => {
    const clock = new FakeClock();
    const chain = createChainedRateLimiter(
      new ConcurrencyLimiter({ permitLimit: 5 }),
      new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 90, clock }),
    );
    chain.attemptAcquire();
    expect(JSON.parse(JSON.stringify(chain.attemptAcquire()))).toEqual({
      isAcquired: false,
      metadata: { RETRY_AFTER: 90 },
      quota: [
        { limit: 5, remaining: 4, member: 0 },
        { limit: 1, remaining: 0, resetAfterMs: 90, windowMs: 90, member: 1 },
      ],
    });
  });
});
