import type { PartitionedRateLimiter } from '../index.js';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  RateLimitPartition,
} from '../index.js';
import { stateOf } from '../../conformance/linked/visits.js';

describe('a partition whose options change while a request of a chain waits for another one', () => {
  it('has the new ones when the request comes to wait in it', async () => {
    let permitLimit = 1;
    const running = (limit: () => number): PartitionedRateLimiter<string> =>
      createPartitionedRateLimiter((key: string) =>
        RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: limit(), queueLimit: 5 })),
      );
    const [first, second] = [running(() => 1), running(() => permitLimit)];
    const held = first.attemptAcquire('a');
    const waiting = createChainedPartitionedRateLimiter(first, second).acquire('a');
    expect(second.attemptAcquire('a').isAcquired).toBe(true);
    permitLimit = 2;
    second.refreshOptions();
    held.dispose();
    expect(await stateOf(waiting)).toBe('granted');
  });
});
