import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  RateLimitPartition,
  retryAfterOfAll,
} from '../index.js';
import type { Clock, DefaultPartitionedRateLimiter } from '../index.js';
import { FakeClock } from '../testing/index.js';

const two = (): { permitLimit: number } => ({ permitLimit: 2 });

function concurrent(clock: Clock): DefaultPartitionedRateLimiter<string, string> {
  return createPartitionedRateLimiter((key: string) => RateLimitPartition.getConcurrencyLimiter(key, two), {
    clock,
  });
}

function unlimited(clock: Clock): DefaultPartitionedRateLimiter<string, string> {
  return createPartitionedRateLimiter((key: string) => RateLimitPartition.getNoLimiter(key), { clock });
}

function perMinute(clock: Clock): DefaultPartitionedRateLimiter<string, string> {
  const options = (): { permitLimit: number; windowMs: number } => ({ permitLimit: 3, windowMs: 60_000 });
  return createPartitionedRateLimiter(
    (key: string) => RateLimitPartition.getFixedWindowLimiter(key, options),
    {
      clock,
    },
  );
}

/** A clock that fails at a reading. */
class FailingClock extends FakeClock {
  readings = 0;
  readingsLeft = Infinity;

  override now(): number {
    this.readings++;
    if (this.readingsLeft-- <= 0) throw new Error('The clock has failed.');
    return super.now();
  }
}

describe('a chain of partitions in which nobody waits', () => {
  it('says to who asks for no permits whether there is any', async () => {
    const clock = new FakeClock();
    for (const spent of [2, 3]) {
      const chain = createChainedPartitionedRateLimiter(unlimited(clock), perMinute(clock));
      chain.attemptAcquire('key', spent);
      const lease = chain.attemptAcquire('key', 0);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const waited = await chain.acquire('key', 0);
      expect([lease.isAcquired, waited.isAcquired]).toEqual([spent === 2, spent === 2]);
      expect(lease.quota()).toMatchObject([{ limit: 3, remaining: 3 - spent, member: 1 }]);
    }
  });

  it('takes nothing where the clock of a later member fails, at whichever reading', () => {
    const failing = new FailingClock();
    const first = concurrent(new FakeClock());
    const chain = createChainedPartitionedRateLimiter(first, unlimited(failing), concurrent(failing));
    chain.attemptAcquire('key').dispose();
    let failed = 0;
    for (let readings = 0; readings < 20; readings++) {
      failing.readingsLeft = readings;
      try {
        chain.attemptAcquire('key').dispose();
      } catch {
        failed++;
      }
      expect(first.getStatistics('key')!.currentAvailablePermits).toBe(2);
    }
    // It was read once for both of its partitions, and once at the end.
    expect(failed).toBeGreaterThanOrEqual(2);
    expect(failed).toBeLessThan(20);
  });

  it('goes by one reading of each clock, in whatever order its members have them', () => {
    const clocks = [new FailingClock(), new FailingClock()] as const;
    const members = [0, 1, 0, 1].map((clock) => perMinute(clocks[clock]!));
    const chain = createChainedPartitionedRateLimiter(...members);
    chain.attemptAcquire('key');
    for (const clock of clocks) clock.readings = 0;
    const decisions = [chain.attemptAcquire('key', 2), chain.attemptAcquire('key')];
    expect(decisions.map(({ isAcquired }) => isAcquired)).toEqual([true, false]);
    expect(clocks.map(({ readings }) => readings)).toEqual([2, 2]);
  });

  it('gives back by one reading of a clock, however many members have it', () => {
    const clock = new FailingClock();
    const members = [concurrent(clock), concurrent(clock), concurrent(clock)];
    const lease = createChainedPartitionedRateLimiter(...members).attemptAcquire('key');
    clock.readings = 0;
    lease.dispose();
    expect(clock.readings).toBe(1);
    expect(members.map((one) => one.getStatistics('key')!.currentAvailablePermits)).toEqual([2, 2, 2]);
  });

  it('burns nothing where a clock fails, at whichever reading', () => {
    const failing = new FailingClock();
    const first = perMinute(new FakeClock());
    const chain = createChainedPartitionedRateLimiter(first, perMinute(failing), unlimited(failing));
    chain.attemptAcquire('key', 0);
    let readings = 0;
    const attempt = (): boolean => {
      failing.readingsLeft = readings++;
      try {
        return chain.attemptAcquire('key').isAcquired;
      } catch {
        return false;
      }
    };
    while (!attempt()) expect(first.getStatistics('key')!.currentAvailablePermits).toBe(3);
    expect(readings).toBeGreaterThan(1);
  });

  it('asks one that has no limit for this key together with the others', () => {
    const clock = new FakeClock();
    const free = unlimited(clock);
    const chain = createChainedPartitionedRateLimiter(free, concurrent(clock));
    const lease = chain.attemptAcquire('key', 2);
    expect(lease.quota()).toMatchObject([{ member: 1, limit: 2, remaining: 0 }]);
    expect(chain.attemptAcquire('key').isAcquired).toBe(false);
    expect(free.getStatistics('key')!.totalSuccessfulLeases).toBe(1);
    lease.dispose();
    expect(chain.attemptAcquire('key').isAcquired).toBe(true);
  });

  it('is an error where the partitioner of a later member has ended one that has no limit', () => {
    const clock = new FakeClock();
    const free = unlimited(clock);
    let ends = false;
    const ending = createPartitionedRateLimiter(
      (key: string) => {
        if (ends) free.dispose();
        return RateLimitPartition.getConcurrencyLimiter(key, two);
      },
      { clock },
    );
    const chain = createChainedPartitionedRateLimiter(free, ending);
    chain.attemptAcquire('key').dispose();
    ends = true;
    expect(() => chain.attemptAcquire('key')).toThrow(/disposed/i);
    expect(ending.getStatistics('key')!.currentAvailablePermits).toBe(2);
  });

  it('counts a partition twice that is there twice', () => {
    const partitions = concurrent(new FakeClock());
    const same = partitions.withTranslatedKey((key: string) => key);
    const chain = createChainedPartitionedRateLimiter(partitions, same);
    const lease = chain.attemptAcquire('key');
    expect(lease.isAcquired).toBe(true);
    expect(partitions.getStatistics('key')!.currentAvailablePermits).toBe(0);
    expect(chain.attemptAcquire('key').isAcquired).toBe(false);
    lease.dispose();
    expect(partitions.getStatistics('key')!.currentAvailablePermits).toBe(2);
  });

  it('counts one that has no limit once where it is there twice', () => {
    const free = unlimited(new FakeClock());
    createChainedPartitionedRateLimiter(free, free).attemptAcquire('key');
    expect(free.getStatistics('key')!.totalSuccessfulLeases).toBe(1);
  });

  it('says when all of those could grant that refuse, and leaves out those that would', () => {
    const clock = new FakeClock();
    const [minute, other, running, spare] = [
      perMinute(clock),
      perMinute(clock),
      concurrent(clock),
      perMinute(clock),
    ];
    minute.attemptAcquire('key', 3);
    clock.advance(1_000);
    other.attemptAcquire('key', 3);
    running.attemptAcquire('key', 2);
    const ofAll = (...members: DefaultPartitionedRateLimiter<string, string>[]): number | undefined =>
      retryAfterOfAll(createChainedPartitionedRateLimiter(...members).attemptAcquire('key'));
    expect([ofAll(minute, other), ofAll(other, minute)]).toEqual([60_000, 60_000]);
    expect([ofAll(running, minute), ofAll(minute, running)]).toEqual([59_000, 59_000]);
    expect([ofAll(running, spare), ofAll(spare, running)]).toEqual([undefined, undefined]);
  });
});
