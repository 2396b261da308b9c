import { FakeClock } from '../testing/index.js';
import { createPartitionedRateLimiter } from './default-partitioned-rate-limiter.js';
import { RateLimitPartition } from './rate-limit-partition.js';

describe('a partition in which somebody has waited', () => {
  it('makes room for a new key as soon as it is idle for too long, also where one came earlier', async () => {
    const clock = new FakeClock();
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1, queueLimit: 1 })),
      { clock, idleTimeoutMs: 50, maxPartitions: 1 },
    );
    const held = limiter.attemptAcquire('a');
    const waiting = limiter.acquire('a');
    held.dispose();
    (await waiting).dispose();
    clock.advance(24);
    expect(limiter.attemptAcquire('b').isAcquired).toBe(false);
    clock.advance(27);
    expect(limiter.attemptAcquire('b').isAcquired).toBe(true);
  });
});
