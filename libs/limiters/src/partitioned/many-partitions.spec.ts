import {
  ConcurrencyLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  RateLimitPartition,
} from '../index.js';
import type { RateLimitPartition as Partition } from '../index.js';
import { FakeClock } from '../testing/index.js';
import { PartitionTable } from './table/partition-table.js';
import { NO_ROW, PAGE_ROWS, pageOf } from './table/rows.js';

const COUNT = PAGE_ROWS + 20;
const numbers = { permitLimit: 2, windowMs: 1_000 };
type Make = (clock: FakeClock) => <K>(key: K) => Partition<K>;
const KINDS: Record<string, Make> = {
  rows: () => (key) => RateLimitPartition.getFixedWindowLimiter(key, () => numbers),
  objects: (clock) => (key) =>
    RateLimitPartition.get(key, () => new FixedWindowRateLimiter({ ...numbers, clock })),
};

describe.each(Object.entries(KINDS))('more partitions than a page has, as %s', (_kind, make) => {
  it.each([
    ['texts', (number: number) => `key ${number}`],
    ['objects', () => ({})],
  ])('are limited each for itself, leave, and come again: keys that are %s', (_keys, keyOf) => {
    const clock = new FakeClock();
    const keys = Array.from({ length: COUNT }, (_, number) => keyOf(number));
    const limiter = createPartitionedRateLimiter((key: unknown) => make(clock)(key), { clock });
    for (let round = 0; round < 2; round++) {
      for (const [index, key] of keys.entries()) limiter.attemptAcquire(key, 1 + (index % 2));
      expect(limiter.partitionCount).toBe(COUNT);
      for (const [index, key] of keys.entries()) {
        expect(limiter.getStatistics(key)!.currentAvailablePermits).toBe(1 - (index % 2));
      }
      clock.advance(20_000);
      expect(limiter.partitionCount).toBe(0);
    }
  });

  it('use the pages again that those before have left', () => {
    const clock = new FakeClock();
    const options = { clock, idleTimeoutMs: 5_000, maxPartitions: Infinity, onError: undefined };
    const table = new PartitionTable(options);
    const add = (key: number): number => table.rowFor(make(clock)<unknown>(key), key, table.read());
    const pages = (from: number, count: number): number[] => [
      ...new Set(Array.from({ length: count }, (_, index) => pageOf(add(from + index)))),
    ];
    expect(pages(0, COUNT)).toEqual([0, 1]);
    clock.advance(2_000);
    // One of the first page stays in use, the other page is left by all.
    for (let turn = 0; turn < 5; turn++) {
      table.page(add(0)).attempt(0, 1, table.read());
      clock.advance(2_000);
    }
    expect(table.size).toBe(1);
    expect(pages(10_000, PAGE_ROWS - 1)).toEqual([0]);
    expect(pages(20_000, PAGE_ROWS)).toEqual([1]);
    expect(pages(30_000, 1)).toEqual([2]);
    clock.advance(60_000);
    expect(table.size).toBe(0);
    expect(new Set(pages(0, 3 * PAGE_ROWS))).toEqual(new Set([0, 1, 2]));
    table.dispose();
    expect(NO_ROW).toBe(-1);
  });
});

describe('partitions of several kinds in one table', () => {
  it('are of the kind that was declared, also where the numbers are the same', () => {
    const clock = new FakeClock();
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        key.startsWith('rate')
          ? RateLimitPartition.getFixedWindowLimiter(key, () => ({ permitLimit: 1, windowMs: 100 }))
          : RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1 })),
      { clock },
    );
    limiter.attemptAcquire('rate').dispose();
    limiter.attemptAcquire('work').dispose();
    limiter.attemptAcquire('rate 2').dispose();
    expect(limiter.attemptAcquire('rate').isAcquired).toBe(false);
    expect(limiter.attemptAcquire('rate 2').isAcquired).toBe(false);
    expect(limiter.attemptAcquire('work').isAcquired).toBe(true);
  });

  it('stay what they are when another kind is declared for a key that lives', () => {
    const clock = new FakeClock();
    let declare = (key: string): Partition<string> =>
      RateLimitPartition.getFixedWindowLimiter(key, () => ({ permitLimit: 1, windowMs: 100 }));
    const limiter = createPartitionedRateLimiter((key: string) => declare(key), { clock });
    limiter.attemptAcquire('first');
    limiter.attemptAcquire('a');
    for (const other of [
      (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 5 })),
      (key: string) => RateLimitPartition.get(key, () => new ConcurrencyLimiter({ permitLimit: 5 })),
    ]) {
      declare = other;
      limiter.refreshOptions();
      expect(limiter.attemptAcquire('a').quota()).toMatchObject([{ limit: 1, remaining: 0, windowMs: 100 }]);
    }
  });

  it('with a timeout of 0 leave as soon as any time has passed', () => {
    const clock = new FakeClock();
    const limiter = createPartitionedRateLimiter(
      (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1 })),
      { clock, idleTimeoutMs: 0 },
    );
    limiter.attemptAcquire('a').dispose();
    expect(limiter.getStatistics('a')!.totalSuccessfulLeases).toBe(1);
    clock.advance(0.000_001);
    expect(limiter.getStatistics('a')!.totalSuccessfulLeases).toBe(0);
  });
});
