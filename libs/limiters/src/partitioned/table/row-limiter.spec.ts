import { chainParticipants, partitionOf } from '../../chained/chain-participant.js';
import { createPartitionedRateLimiter, RateLimitPartition } from '../../index.js';
import { FakeClock } from '../../testing/index.js';
import { RowLimiter } from './row-limiter.js';

const IDLE_TIMEOUT_MS = 1_000;
const REFUSED = 'Partition limit reached';

/** Partitions of one at a time, at most one of them, and the limiter of a row that a chain was given. */
function oneRow() {
  const clock = new FakeClock();
  const partitions = createPartitionedRateLimiter(
    (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1, queueLimit: 1 })),
    { clock, idleTimeoutMs: IDLE_TIMEOUT_MS, maxPartitions: 1 },
  );
  const row = partitions[partitionOf]('ann') as RowLimiter;
  expect(row).toBeInstanceOf(RowLimiter);
  return { clock, partitions, row };
}

/** The same once the row has gone, and another key stands in its place. */
function goneRow() {
  const scene = oneRow();
  scene.clock.advance(2 * IDLE_TIMEOUT_MS);
  return { ...scene, held: scene.partitions.attemptAcquire('bob') };
}

describe('the limiter of a row whose key has gone, and has no place any more', () => {
  it('refuses for that reason, whatever is asked of it', async () => {
    const { row } = goneRow();
    expect(row.decidesOutright(1)).toBe(false);
    for (const permits of [1, 100]) {
      expect(row.attemptAcquire(permits).getMetadata('REASON_PHRASE')).toBe(REFUSED);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await row.acquire(permits)).getMetadata('REASON_PHRASE')).toBe(REFUSED);
    }
    expect(row.decidesOutright(1)).toBe(false);
    expect([row.getStatistics(), row[chainParticipants]()]).toEqual([null, null]);
  });

  it('keeps nobody who stands in its place', () => {
    const { clock, partitions, row, held } = goneRow();
    const end = row.keep();
    held.dispose();
    clock.advance(2 * IDLE_TIMEOUT_MS);
    expect(partitions.partitionCount).toBe(0);
    end();
  });
});

describe('the limiter of a row whose key has gone and come again', () => {
  const comeAgain = () => {
    const scene = goneRow();
    scene.held.dispose();
    scene.clock.advance(2 * IDLE_TIMEOUT_MS);
    return scene;
  };

  it('stands for what the key has now', async () => {
    const { partitions, row } = comeAgain();
    const lease = row.attemptAcquire();
    expect(lease.isAcquired).toBe(true);
    expect(row.getStatistics()).toEqual(partitions.getStatistics('ann'));
    expect(row.getStatistics()).toMatchObject({ currentAvailablePermits: 0, totalSuccessfulLeases: 1 });
    expect(row[chainParticipants]()).toHaveLength(1);
    expect((await row.acquire(1, { maxWaitMs: 0 })).getMetadata('REASON_PHRASE')).toBe('Wait limit reached');
    const gone = new AbortController();
    const waiting = row.acquire(1, { signal: gone.signal });
    gone.abort('gone');
    await expect(waiting).rejects.toBe('gone');
    lease.dispose();
    expect((await row.acquire()).isAcquired).toBe(true);
  });
});

describe('the limiter of a row that is kept', () => {
  it('stays until it is kept no more', () => {
    const { clock, partitions, row } = oneRow();
    const end = row.keep();
    clock.advance(5 * IDLE_TIMEOUT_MS);
    expect(partitions.partitionCount).toBe(1);
    end();
    clock.advance(5 * IDLE_TIMEOUT_MS);
    expect([partitions.partitionCount, clock.pendingTimers]).toEqual([0, 0]);
  });
});
