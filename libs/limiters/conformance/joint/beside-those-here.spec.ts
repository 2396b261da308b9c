import {
  chainParticipants,
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  MetadataName,
  refusedMember,
  RateLimitPartition,
} from '../../src/index.js';
import type { RateLimiter } from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';
import type { Visit } from '../linked/visits.js';
import { freeAndQueued, perGroup, Session, visit, VisitLimiter } from '../linked/visits.js';
import { chainOf, SlotsElsewhere, until } from './slots-elsewhere.js';

const free = (limiter: RateLimiter): number => limiter.getStatistics()!.currentAvailablePermits;

describe('a request for limiters here and elsewhere', () => {
  it('asks and waits here first, where that costs no way, and holds nothing elsewhere meanwhile', async () => {
    const log: string[] = [];
    const [a, b] = ['a', 'b'].map((name) => new SlotsElsewhere(name, { log })) as [
      SlotsElsewhere,
      SlotsElsewhere,
    ];
    const here = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
    const held = here.attemptAcquire();
    const asked = chainOf(a, here, b).acquire('');
    await until(() => here.getStatistics().currentQueuedCount === 1);
    expect((await chainOf(a, here, b).acquire('')).isAcquired).toBe(false);
    expect(log).toEqual([]);
    held.dispose();
    expect((await asked).isAcquired).toBe(true);
    expect(log).toEqual(['a granted', 'b granted']);
  });

  it('gives back what is set aside here while it waits elsewhere, a rate too', async () => {
    const b = new SlotsElsewhere('b');
    const clock = new FakeClock();
    const window = new FixedWindowRateLimiter({ permitLimit: 2, windowMs: 60_000, clock });
    const held = await b.acquire();
    const asked = chainOf(window, b).acquire('');
    await until(() => b.waiting === 1);
    expect(window.getStatistics()).toMatchObject({ currentAvailablePermits: 2, totalSuccessfulLeases: 0 });
    expect((await chainOf(window, b).acquire('', 1, { maxWaitMs: 0 })).isAcquired).toBe(false);
    expect(window.getStatistics()).toMatchObject({ currentAvailablePermits: 2, totalFailedLeases: 0 });
    held.dispose();
    expect((await asked).isAcquired).toBe(true);
    expect(window.getStatistics()).toMatchObject({ currentAvailablePermits: 1, totalSuccessfulLeases: 1 });
  });

  it('gives back also what it has waited for here', async () => {
    const b = new SlotsElsewhere('b');
    const clock = new FakeClock();
    const window = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 60_000, queueLimit: 1, clock });
    window.attemptAcquire();
    const held = await b.acquire();
    const asked = chainOf(window, b).acquire('');
    await until(() => window.getStatistics().currentQueuedCount === 1);
    clock.advance(60_000);
    await until(() => b.waiting === 1);
    expect(window.getStatistics()).toMatchObject({ currentAvailablePermits: 1, totalSuccessfulLeases: 1 });
    held.dispose();
    expect((await asked).isAcquired).toBe(true);
    expect(window.getStatistics()).toMatchObject({ currentAvailablePermits: 0, totalSuccessfulLeases: 2 });
  });

  it.each([
    ['has ended', (here: ConcurrencyLimiter) => here.dispose(), 'Limiter disposed'],
    ['grants less', (here: ConcurrencyLimiter) => here.updateOptions({ permitLimit: 1 }), 'Limit lowered'],
  ])('is refused where a limiter here %s meanwhile, and holds nothing', async (_what, change, reason) => {
    const [other, here] = [2, 2].map((permitLimit) => new ConcurrencyLimiter({ permitLimit }));
    const a = new SlotsElsewhere('a', { permitLimit: 2 });
    a.onAsk = () => change(here!);
    const refused = await chainOf(a, other!, here!).acquire('', 2);
    expect(refused.getMetadata(MetadataName.reasonPhrase)).toBe(reason);
    expect(refusedMember(refused)).toBe(2);
    expect([a.free, other!.getStatistics().currentAvailablePermits]).toEqual([2, 2]);
  });

  describe('fails with one here at the end, and holds nothing', () => {
    const failing = (): { here: FixedWindowRateLimiter; fail: (isFailing: boolean) => void } => {
      let isFailing = false;
      const clock = new FakeClock();
      const now = (): number => {
        if (isFailing) throw new Error('no time');
        return clock.now();
      };
      const broken = { now, setTimer: clock.setTimer.bind(clock) };
      return {
        here: new FixedWindowRateLimiter({ permitLimit: 2, windowMs: 60_000, clock: broken }),
        fail: (is) => (isFailing = is),
      };
    };

    it.each(['the first', 'the last'])('%s of those, as it is taken from', async (which) => {
      const { here, fail } = failing();
      const other = new ConcurrencyLimiter({ permitLimit: 1 });
      const a = new SlotsElsewhere('a');
      a.onAsk = () => fail(true);
      const members = which === 'the first' ? [here, a, other] : [other, a, here];
      await expect(chainOf(...members).acquire('')).rejects.toThrow('no time');
      fail(false);
      expect([a.free, free(other), free(here)]).toEqual([1, 1, 2]);
    });

    it('one of those, after it was taken from', async () => {
      const [one, other] = [1, 2].map((permitLimit) => new ConcurrencyLimiter({ permitLimit }));
      const afterTaking = (): never => {
        throw new Error('afterwards');
      };
      Object.assign(other![chainParticipants]()![0]!, { afterTaking });
      const a = new SlotsElsewhere('a');
      await expect(chainOf(one!, a, other!).acquire('')).rejects.toThrow('afterwards');
      expect([a.free, free(one!), free(other!)]).toEqual([1, 1, 2]);
    });
  });

  it('holds nothing elsewhere either where it waits here again', async () => {
    const log: string[] = [];
    const a = new SlotsElsewhere('a', { log });
    const here = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
    const leaseOfA = await a.acquire();
    const asked = chainOf(here, a).acquire('');
    await until(() => a.waiting === 1);
    const lease = here.attemptAcquire();
    expect(lease.isAcquired).toBe(true);
    leaseOfA.dispose();
    await until(() => here.getStatistics().currentQueuedCount === 1);
    expect(a.free).toBe(1);
    lease.dispose();
    expect((await asked).isAcquired).toBe(true);
    expect(log).toEqual(['a granted', 'a waited for', 'a granted', 'a taken back', 'a granted']);
  });

  it('keeps those here first, once it was passed over often', async () => {
    const a = new SlotsElsewhere('a');
    const here = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
    const waiting = (limiter: SlotsElsewhere | ConcurrencyLimiter): number =>
      limiter instanceof SlotsElsewhere ? a.waiting : here.getStatistics().currentQueuedCount;
    const limiters = [a, here];
    let lease = await a.acquire();
    const asked = chainOf(a, here).acquire('');
    await until(() => a.waiting === 1);
    for (let turns = 1; turns <= 4; turns++) {
      // oxlint-disable no-await-in-loop -- one turn after the other
      const other = limiters[turns % 2]!;
      const next = await other.acquire();
      lease.dispose();
      await until(() => waiting(other) === 1);
      // oxlint-enable no-await-in-loop
      lease = next;
    }
    expect([a.waiting, free(here)]).toEqual([1, 0]);
    lease.dispose();
    expect((await asked).isAcquired).toBe(true);
  });

  it('is refused where a chain within it ends while others are asked', async () => {
    const a = new SlotsElsewhere('a');
    const inner = chainOf(new SlotsElsewhere('b'), new ConcurrencyLimiter({ permitLimit: 1 }));
    a.onAsk = () => void inner.dispose();
    const refused = await chainOf(a, inner).acquire('');
    expect(refused.getMetadata(MetadataName.reasonPhrase)).toBe('Limiter disposed');
    expect(a.free).toBe(1);
  });

  it('is not given up as idle as long as something of it is set aside', async () => {
    const clock = new FakeClock();
    const members = createPartitionedRateLimiter(
      (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1 })),
      { clock, idleTimeoutMs: 1_000 },
    );
    const a = new SlotsElsewhere('a');
    a.onAsk = () => clock.advance(10_000);
    const lease = await chainOf(members, a).acquire('k');
    expect([lease.isAcquired, members.getStatistics('k')!.currentAvailablePermits]).toEqual([true, 0]);
    lease.dispose();
    clock.advance(10_000);
    expect(members.partitionCount).toBe(0);
  });

  it('shares a permit with all of its session, also where they come together', async () => {
    const a = new SlotsElsewhere('a', { permitLimit: 20 });
    const base = perGroup(1);
    const chain = createChainedPartitionedRateLimiter<Visit>(
      new VisitLimiter(base),
      createPartitionedRateLimiter((_visit: Visit) => RateLimitPartition.get('all', () => a)),
    );
    const session = new Session();
    const leases = await Promise.all(Array.from({ length: 20 }, () => chain.acquire(visit(session))));
    expect(leases.every(({ isAcquired }) => isAcquired)).toBe(true);
    expect([freeAndQueued(base), a.free]).toEqual([[0, 0], 0]);
    for (const lease of leases) lease.dispose();
    session.dispose();
    expect([freeAndQueued(base), a.free]).toEqual([[1, 0], 20]);
  });
});
