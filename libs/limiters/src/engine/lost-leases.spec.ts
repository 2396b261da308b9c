import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { LostLease } from '../index.js';
import { ConcurrencyLimiter, reportLostLeases } from '../index.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Collects until a condition holds; the garbage collector tells its finds in later turns. */
async function collectUntil(isDone: () => boolean): Promise<void> {
  for (let turn = 0; turn < 200 && !isDone(); turn++) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function loseOneOf(limiter: ConcurrencyLimiter): void {
  limiter.attemptAcquire(2);
}

describe('lost leases', () => {
  it('reports a lease that was collected undisposed, and gives its permits back', async () => {
    const lost: LostLease[] = [];
    const stop = reportLostLeases((lease) => lost.push(lease));
    const limiter = new ConcurrencyLimiter({ permitLimit: 3 });
    loseOneOf(limiter);
    await collectUntil(() => lost.length > 0);
    stop();
    expect(lost).toEqual([
      {
        limiter: 'ConcurrencyLimiter',
        permits: 2,
        acquiredAt: expect.stringContaining('loseOneOf') as string,
      },
    ]);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(3);
  });

  it('says nothing of a lease that was disposed', async () => {
    const lost: LostLease[] = [];
    const stop = reportLostLeases((lease) => lost.push(lease));
    const limiter = new ConcurrencyLimiter({ permitLimit: 3 });
    const canary = new FinalizationRegistry<string>(() => (isCanaryDead = true));
    let isCanaryDead = false;
    (() => {
      const lease = limiter.attemptAcquire(1);
      canary.register(lease, 'lease');
      lease.dispose();
    })();
    await collectUntil(() => isCanaryDead);
    stop();
    expect(isCanaryDead).toBe(true);
    expect(lost).toEqual([]);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(3);
  });

  it('says nothing of a lease that held nothing', async () => {
    const lost: LostLease[] = [];
    const stop = reportLostLeases((lease) => lost.push(lease));
    const limiter = new ConcurrencyLimiter({ permitLimit: 3 });
    (() => limiter.attemptAcquire(0))();
    loseOneOf(limiter);
    await collectUntil(() => lost.length > 0);
    stop();
    expect(lost.map(({ permits }) => permits)).toEqual([2]);
  });

  it('watches nothing while nobody listens', async () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 3 });
    loseOneOf(limiter);
    const lost: LostLease[] = [];
    const stop = reportLostLeases((lease) => lost.push(lease));
    loseOneOf(new ConcurrencyLimiter({ permitLimit: 3 }));
    await collectUntil(() => lost.length > 0);
    stop();
    expect(lost).toHaveLength(1);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(1);
  });
});
