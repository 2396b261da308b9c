import type { AcquireOptions, ConcurrencyLimiterOptions, RateLimitLease } from '../index.js';
import { ConcurrencyLimiter, RateLimitLease as Lease } from '../index.js';
import type { FakeClock } from './index.js';
import { ConformanceError, rateLimiterConformance } from './index.js';

/** The checks that a limiter class fails. */
async function failures(
  kind: new (options: ConcurrencyLimiterOptions) => ConcurrencyLimiter,
): Promise<string[]> {
  const create = (clock: FakeClock): ConcurrencyLimiter => new kind({ permitLimit: 3, queueLimit: 6, clock });
  const failed: string[] = [];
  for (const { name, run } of rateLimiterConformance(create, { permitLimit: 3, queueLimit: 6 })) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- each check on its own
      await run();
    } catch {
      failed.push(name);
    }
  }
  return failed;
}

class Generous extends ConcurrencyLimiter {
  protected override attemptAcquireCore(): RateLimitLease {
    return super.attemptAcquireCore(0);
  }
}

class Impatient extends ConcurrencyLimiter {
  override async acquire(permitCount?: number): Promise<RateLimitLease> {
    return this.attemptAcquire(permitCount);
  }
}

class Deaf extends ConcurrencyLimiter {
  override acquire(permitCount?: number, options?: AcquireOptions): Promise<RateLimitLease> {
    return super.acquire(permitCount, { maxWaitMs: options?.maxWaitMs });
  }
}

class Immortal extends ConcurrencyLimiter {
  override dispose(): void {
    // Never ends.
  }
}

class ChattyLease extends Lease {
  readonly #lease: RateLimitLease;

  constructor(lease: RateLimitLease) {
    super();
    this.#lease = lease;
  }

  override get isAcquired(): boolean {
    return this.#lease.isAcquired;
  }

  override get metadataNames(): Iterable<string> {
    return ['NOTHING'];
  }

  override getMetadata(): undefined {
    return undefined;
  }

  override dispose(): void {
    this.#lease.dispose();
  }
}

class Chatty extends ConcurrencyLimiter {
  protected override attemptAcquireCore(permitCount: number): RateLimitLease {
    return new ChattyLease(super.attemptAcquireCore(permitCount));
  }
}

describe('the conformance suite', () => {
  it('passes a limiter of ours', async () => {
    expect(await failures(ConcurrencyLimiter)).toEqual([]);
  });

  it('finds a limiter that grants without counting', async () => {
    expect(await failures(Generous)).toContain('grants the whole limit at once, and nothing beyond');
  });

  it('finds a limiter in which nobody waits although there is a queue', async () => {
    const failed = await failures(Impatient);
    expect(failed).toContain('serves who waits once permits are back');
    expect(failed).toContain('rejects with the reason of a signal that is aborted already');
  });

  it('finds a limiter that ignores signals', async () => {
    const failed = await failures(Deaf);
    expect(failed).toContain('rejects a waiter with the reason of its signal, and forgets it');
    expect(failed).toContain('goes on to the next when the first in the queue aborts');
  });

  it('finds a limiter that goes on after its end', async () => {
    const failed = await failures(Immortal);
    expect(failed).toContain('gives nothing more after its end');
    expect(failed).toContain('resolves its waiters refused when it ends');
  });

  it('finds leases that name metadata they do not have', async () => {
    expect(await failures(Chatty)).toContain('tells metadata under the names it lists, and under no others');
  });

  it('says in the error what was wrong', async () => {
    const create = (clock: FakeClock): Generous => new Generous({ permitLimit: 3, clock });
    const checks = rateLimiterConformance(create, { permitLimit: 3 });
    const check = checks.find(({ name }) => name.startsWith('grants the whole limit'));
    await expect(check?.run()).rejects.toThrow(ConformanceError);
    await expect(check?.run()).rejects.toThrow('it granted a permit beyond the limit');
  });

  it('asks about waiting only where somebody can wait', () => {
    const create = (clock: FakeClock): ConcurrencyLimiter =>
      new ConcurrencyLimiter({ permitLimit: 3, clock });
    const names = rateLimiterConformance(create, { permitLimit: 3 }).map(({ name }) => name);
    expect(names).not.toContain('serves who waits once permits are back');
    expect(names).toHaveLength(new Set(names).size);
  });
});
