import type { RateLimitLease } from '../../src/index.js';
import { ConcurrencyLimiter, MetadataName } from '../../src/index.js';
import { chainOf, SlotsElsewhere, until } from './slots-elsewhere.js';

type JointLease = RateLimitLease & AsyncDisposable & { readonly signal: AbortSignal };

/** A request keeps what it gets once it had to give back so often. */
const TURNS = 4;

/** Limiters in places of their own, and what happens there. */
function places(): { log: string[]; a: SlotsElsewhere; b: SlotsElsewhere; rate: SlotsElsewhere } {
  const log: string[] = [];
  const [a, b] = ['a', 'b'].map((name) => new SlotsElsewhere(name, { log })) as [
    SlotsElsewhere,
    SlotsElsewhere,
  ];
  return { log, a, b, rate: new SlotsElsewhere('rate', { log, isRate: true }) };
}

/**
 * A request for two that gave back what it had so often that it keeps what it gets. It has just got the first of them and
 * waits for the other one; also the lease of who has that.
 */
async function passedOver(
  first: SlotsElsewhere,
  second: SlotsElsewhere,
): Promise<[Promise<RateLimitLease>, RateLimitLease]> {
  let [one, other] = [first, second];
  let lease = await one.acquire();
  const asked = chainOf(first, second).acquire('');
  await until(() => first.waiting === 1);
  for (let turns = 1; turns <= TURNS + 1; turns++) {
    // oxlint-disable no-await-in-loop -- one turn after the other
    const next = await other.acquire();
    lease.dispose();
    await until(() => other.waiting === 1);
    // oxlint-enable no-await-in-loop
    [one, other, lease] = [other, one, next];
  }
  first.log.splice(0);
  return [asked, lease];
}

describe('a request that waits in one of several places', () => {
  it('gives back what the others granted, and asks them again at its turn', async () => {
    const { log, a, b } = places();
    const held = await b.acquire();
    const asked = chainOf(a, b).acquire('');
    await until(() => b.waiting === 1);
    expect(a.free).toBe(1);
    held.dispose();
    expect((await asked).isAcquired).toBe(true);
    expect(log).toEqual([
      ...['b granted', 'a granted', 'b waited for', 'a taken back'],
      ...['b granted', 'a granted'],
    ]);
  });

  it('holds nothing once it is aborted, or refused', async () => {
    const { a, b } = places();
    const held = await b.acquire();
    const leaving = new AbortController();
    const asked = chainOf(a, b).acquire('', 1, { signal: leaving.signal });
    await until(() => b.waiting === 1);
    leaving.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    expect((await chainOf(a, b).acquire('', 1, { maxWaitMs: 0 })).isAcquired).toBe(false);
    held.dispose();
    expect([a.free, b.free, a.waiting, b.waiting]).toEqual([1, 1, 0, 0]);
  });

  it('keeps what it gets once it had to give back four times', async () => {
    const { log, a, b } = places();
    const [asked, held] = await passedOver(a, b);
    expect(a.free).toBe(0);
    held.dispose();
    expect((await asked).isAcquired).toBe(true);
    expect(log).toEqual(['b granted']);
  });

  it('gives back even then what comes later in the order of all', async () => {
    const { log, a, b } = places();
    const [asked, held] = await passedOver(b, a);
    expect(b.free).toBe(1);
    held.dispose();
    expect((await asked).isAcquired).toBe(true);
    expect(log).toEqual(['a granted', 'b granted']);
  });

  it('takes last what nobody has to give back', async () => {
    const { log, b, rate } = places();
    const [asked, held] = await passedOver(rate, b);
    expect(rate.free).toBe(1);
    held.dispose();
    expect((await asked).isAcquired).toBe(true);
    expect(log).toEqual(['b granted', 'rate granted']);
  });

  it('asks again for what it has lost meanwhile, and holds nothing else that others may have to wait for', async () => {
    const { a, b } = places();
    const [asked, held] = await passedOver(a, b);
    a.last!.lose(new Error('lost'));
    const again = await a.acquire();
    held.dispose();
    await until(() => a.waiting === 1);
    expect(b.free).toBe(1);
    again.dispose();
    const lease = await asked;
    expect([lease.isAcquired, a.free, b.free]).toEqual([true, 0, 0]);
    lease.dispose();
    expect([a.free, b.free]).toEqual([1, 1]);
  });

  it('rejects at its turn with what went wrong with giving back, and holds nothing', async () => {
    const { a, b } = places();
    const c = new SlotsElsewhere('c');
    const held = await c.acquire();
    const asked = chainOf(a, b, c).acquire('');
    await until(() => b.last !== undefined);
    for (const { last } of [a, b]) last!.failing = new Error('gone');
    await until(() => c.waiting === 1);
    expect([a.free, b.free]).toEqual([1, 1]);
    held.dispose();
    await expect(asked).rejects.toMatchObject({ errors: [new Error('gone'), new Error('gone')] });
    expect([a.free, b.free, c.free]).toEqual([1, 1, 1]);
  });

  it.each([
    ['of the chain', 0],
    ['of a chain within', 1],
    ['of a chain within that', 2],
  ])('ends with the end %s', async (_of, ending) => {
    const { a, b } = places();
    const innermost = chainOf(b, new ConcurrencyLimiter({ permitLimit: 1 }));
    const inner = chainOf(innermost, new ConcurrencyLimiter({ permitLimit: 1 }));
    const chains = [chainOf(a, inner), inner, innermost];
    const held = await b.acquire();
    const asked = chains[0]!.acquire('');
    await until(() => b.waiting === 1);
    await chains[ending]!.dispose();
    expect((await asked).getMetadata(MetadataName.reasonPhrase)).toBe('Limiter disposed');
    held.dispose();
    expect([a.free, b.free]).toEqual([1, 1]);
  });

  it('ends with a chain within it also where it waits here', async () => {
    const { a, b } = places();
    const here = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
    const inner = chainOf(b, here);
    const held = here.attemptAcquire();
    const asked = chainOf(a, inner).acquire('');
    await until(() => here.getStatistics().currentQueuedCount === 1);
    await inner.dispose();
    expect((await asked).getMetadata(MetadataName.reasonPhrase)).toBe('Limiter disposed');
    held.dispose();
    expect([a.free, b.free, here.getStatistics().currentAvailablePermits]).toEqual([1, 1, 1]);
  });
});

describe('the lease of several places', () => {
  const granted = async (): Promise<{ lease: JointLease } & ReturnType<typeof places>> => {
    const all = places();
    const here = new ConcurrencyLimiter({ permitLimit: 1 });
    return { ...all, lease: (await chainOf(all.a, here, all.b).acquire('')) as JointLease };
  };

  it('aborts its signal with that of one of them, and with its reason', async () => {
    const { lease, b } = await granted();
    const { signal } = lease;
    expect([signal.aborted, lease.signal]).toEqual([false, signal]);
    b.last!.lose(new Error('lost'));
    expect(signal.reason).toEqual(new Error('lost'));
  });

  it('does not abort it when it is disposed, and tells of what was lost before it was asked for', async () => {
    const { lease, a } = await granted();
    lease.dispose();
    expect(lease.signal.aborted).toBe(false);
    const other = await granted();
    other.a.last!.lose(new Error('lost'));
    expect([other.lease.signal.aborted, a.free]).toEqual([true, 1]);
  });

  it('gives back in the background, or waits until it is given back', async () => {
    const { lease, a, b } = await granted();
    const given = lease[Symbol.asyncDispose]();
    expect([a.free, b.free]).toEqual([0, 0]);
    await given;
    expect([a.free, b.free]).toEqual([1, 1]);
    await a.acquire();
    lease.dispose();
    await lease[Symbol.asyncDispose]();
    expect(a.free).toBe(0);
  });

  it('gives back the others where one of them fails to', async () => {
    const { lease, a, b } = await granted();
    a.last!.failing = new Error('gone');
    await expect(lease[Symbol.asyncDispose]()).rejects.toThrow('gone');
    expect(b.free).toBe(1);
  });
});
