import { ConcurrencyLimiter } from '../index.js';
import { FakeClock } from '../testing/index.js';

describe('a refusal that ends a wait', () => {
  it('tells how the limiter stands, as every refusal does', async () => {
    const clock = new FakeClock();
    const limiter = new ConcurrencyLimiter({ permitLimit: 3, queueLimit: 5, clock });
    limiter.attemptAcquire(2);
    const late = limiter.acquire(2, { maxWaitMs: 10 });
    clock.advance(10);
    expect((await late).getMetadata('REASON_PHRASE')).toBe('Wait limit reached');
    expect((await late).quota()).toEqual([{ limit: 3, remaining: 1, member: 0 }]);

    const above = limiter.acquire(2);
    limiter.updateOptions({ permitLimit: 1 });
    expect((await above).getMetadata('REASON_PHRASE')).toBe('Limit lowered');
    expect((await above).quota()).toEqual([{ limit: 1, remaining: 0, member: 0 }]);
  });
});
