import { ConcurrencyLimiter, createChainedRateLimiter, RateLimiter, RateLimitLease } from '../index.js';
import type { RateLimiterStatistics } from '../index.js';

/** A limiter that knows nothing of chains, and what its leases do. */
class ForeignLimiter extends RateLimiter {
  readonly disposals: string[];
  readonly name: string;
  outcome: 'grant' | 'refuse' | 'throw' | 'nothing' | 'no lease' | 'silent' = 'grant';
  failsToEnd = false;
  asked = 0;

  constructor(name: string, disposals: string[]) {
    super();
    this.name = name;
    this.disposals = disposals;
  }

  override get idleDurationMs(): null {
    return null;
  }

  override getStatistics(): RateLimiterStatistics | null {
    return null;
  }

  protected override attemptAcquireCore(): RateLimitLease {
    this.asked++;
    if (this.outcome === 'throw') throw new Error(`${this.name} failed`);
    if (this.outcome === 'nothing') return undefined as never;
    if (this.outcome === 'no lease') return { isAcquired: true } as never;
    const lease = new ForeignLease(this, this.outcome === 'grant');
    return this.outcome === 'silent' ? Object.defineProperty(lease, 'isAcquired', { get: noWord }) : lease;
  }

  protected override async acquireCore(): Promise<RateLimitLease> {
    return this.attemptAcquireCore();
  }
}

function noWord(): never {
  throw new Error('no word');
}

class ForeignLease extends RateLimitLease {
  readonly #limiter: ForeignLimiter;
  override readonly isAcquired: boolean;

  constructor(limiter: ForeignLimiter, isAcquired: boolean) {
    super();
    this.#limiter = limiter;
    this.isAcquired = isAcquired;
  }

  override get metadataNames(): Iterable<string> {
    return ['BY'];
  }

  override getMetadata(name: string | { name: string }): undefined {
    const key = typeof name === 'string' ? name : name.name;
    return (key === 'BY' ? this.#limiter.name : undefined) as undefined;
  }

  override dispose(): void {
    this.#limiter.disposals.push(this.#limiter.name);
    if (this.#limiter.failsToEnd) throw new Error(`the lease of ${this.#limiter.name} failed`);
  }
}

function three(): { limiters: ForeignLimiter[]; disposals: string[]; chain: RateLimiter } {
  const disposals: string[] = [];
  const limiters = ['a', 'b', 'c'].map((name) => new ForeignLimiter(name, disposals));
  return { limiters, disposals, chain: createChainedRateLimiter(...limiters) };
}

async function outcomes(chain: RateLimiter): Promise<unknown[]> {
  const now = ((): unknown => {
    try {
      return chain.attemptAcquire();
    } catch (error) {
      return error;
    }
  })();
  return [now, await chain.acquire().catch((error: unknown) => error)];
}

describe('a chain with limiters of other makers', () => {
  it('asks them in order and disposes their leases in reverse', async () => {
    const { limiters, disposals, chain } = three();
    for (const lease of await outcomes(chain)) {
      expect((lease as RateLimitLease).isAcquired).toBe(true);
      expect((lease as RateLimitLease).getMetadata('BY')).toBe('a');
      (lease as RateLimitLease).dispose();
      (lease as RateLimitLease).dispose();
    }
    expect(disposals).toEqual(['c', 'b', 'a', 'c', 'b', 'a']);
    expect(limiters.map(({ asked }) => asked)).toEqual([2, 2, 2]);
  });

  it('gives back what the earlier ones granted when a later one refuses, and hands out its lease', async () => {
    const { limiters, disposals, chain } = three();
    limiters[1]!.outcome = 'refuse';
    for (const lease of await outcomes(chain)) {
      expect((lease as RateLimitLease).isAcquired).toBe(false);
      expect((lease as RateLimitLease).getMetadata('BY')).toBe('b');
    }
    expect(disposals).toEqual(['a', 'a']);
    expect(limiters[2]!.asked).toBe(0);
  });

  it('gives back in reverse when a later one throws, and hands on its error as it is', async () => {
    const { limiters, disposals, chain } = three();
    limiters[2]!.outcome = 'throw';
    for (const error of await outcomes(chain)) expect((error as Error).message).toBe('c failed');
    expect(disposals).toEqual(['b', 'a', 'b', 'a']);
  });

  it('hands on everything that went wrong: the leases first, the acquisition last', async () => {
    const { limiters, chain } = three();
    limiters[2]!.outcome = 'throw';
    for (const one of limiters) one.failsToEnd = true;
    for (const error of await outcomes(chain)) {
      expect(error).toBeInstanceOf(AggregateError);
      const messages = (error as AggregateError).errors.map(({ message }: Error) => message);
      expect(messages).toEqual(['the lease of b failed', 'the lease of a failed', 'c failed']);
    }
  });

  it('tries to end all leases although one fails', () => {
    const { limiters, disposals, chain } = three();
    limiters[1]!.failsToEnd = true;
    const lease = chain.attemptAcquire();
    expect(() => lease.dispose()).toThrow('the lease of b failed');
    expect(disposals).toEqual(['c', 'b', 'a']);
    expect(() => lease.dispose()).not.toThrow();
  });

  it('says so where several leases fail as they end', () => {
    const { limiters, chain } = three();
    for (const one of limiters) one.failsToEnd = true;
    const lease = chain.attemptAcquire();
    expect(() => lease.dispose()).toThrow('Several leases of a chain failed to end.');
  });

  it('never leaks a permit of ours when another member fails, however often', async () => {
    const ours = new ConcurrencyLimiter({ permitLimit: 3 });
    const theirs = new ForeignLimiter('theirs', []);
    theirs.outcome = 'throw';
    const chain = createChainedRateLimiter(ours, theirs);
    for (let call = 0; call < 10; call++) {
      expect(() => chain.attemptAcquire()).toThrow('theirs failed');
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(chain.acquire()).rejects.toThrow('theirs failed');
    }
    expect(ours.getStatistics().currentAvailablePermits).toBe(3);
  });

  it.each(['nothing', 'no lease'] as const)(
    'gives back what the earlier ones granted when a later one answers with %s',
    async (outcome) => {
      const { limiters, disposals, chain } = three();
      limiters[2]!.outcome = outcome;
      for (const error of await outcomes(chain)) {
        expect(error).toMatchObject({ code: 'ERR_RL_INVALID_ARGUMENT' });
        expect((error as Error).message).toMatch(/^Member 2 of a chain must answer with a lease, but got /);
      }
      expect(disposals).toEqual(['b', 'a', 'b', 'a']);
    },
  );

  it('gives back what the earlier ones granted when the lease of a later one fails to say what it is', async () => {
    const { limiters, disposals, chain } = three();
    limiters[2]!.outcome = 'silent';
    for (const error of await outcomes(chain)) expect((error as Error).message).toBe('no word');
    expect(disposals).toEqual(['b', 'a', 'b', 'a']);
  });

  it('has statistics of the members that keep some', () => {
    const ours = new ConcurrencyLimiter({ permitLimit: 3 });
    const chain = createChainedRateLimiter(ours, new ForeignLimiter('theirs', []));
    expect(chain.getStatistics()).toMatchObject({ currentAvailablePermits: 3 });
    expect(three().chain.getStatistics()).toEqual({
      currentAvailablePermits: Infinity,
      currentQueuedCount: 0,
      totalFailedLeases: 0,
      totalSuccessfulLeases: 0,
    });
  });

  it('asks a subclass of ours that decides otherwise for its decision', () => {
    class Stubborn extends ConcurrencyLimiter {
      protected override attemptAcquireCore(): RateLimitLease {
        return new ForeignLease(new ForeignLimiter('stubborn', []), false);
      }
    }
    const chain = createChainedRateLimiter(
      new ConcurrencyLimiter({ permitLimit: 1 }),
      new Stubborn({ permitLimit: 1 }),
    );
    expect(chain.attemptAcquire().getMetadata('BY')).toBe('stubborn');
  });
});
