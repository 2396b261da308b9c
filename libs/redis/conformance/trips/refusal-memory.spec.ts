import type { RateLimiter } from '@ratelease/limiters';
import {
  FixedWindowRateLimiter,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import * as fc from 'fast-check';
import { RefusalMemory } from '../../src/remote/refusal-memory.js';

const LIMIT = 6;
const LIMITERS: Record<string, (clock: FakeClock) => RateLimiter> = {
  fixedWindow: (clock) => new FixedWindowRateLimiter({ permitLimit: LIMIT, windowMs: 40, clock }),
  slidingWindow: (clock) =>
    new SlidingWindowRateLimiter({ permitLimit: LIMIT, windowMs: 40, segmentsPerWindow: 4, clock }),
  tokenBucket: (clock) =>
    new TokenBucketRateLimiter({
      tokenLimit: LIMIT,
      tokensPerPeriod: 3,
      replenishmentPeriodMs: 20,
      clock,
    }),
};

const anySteps = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 0, max: 12 }),
    permits: fc.integer({ min: 0, max: LIMIT }),
    // Others ask the server too: the memory hears nothing of that.
    isOther: fc.boolean(),
    latencyMs: fc.integer({ min: 0, max: 5 }),
  }),
  { minLength: 1, maxLength: 40, size: 'max' },
);

const refusedFor = (waitMs: number) =>
  ({ kind: 'refused', member: 0, waitUs: waitMs * 1_000, longestUs: waitMs * 1_000, standing: [] }) as const;

test.each(Object.entries(LIMITERS))('a refusal of a %s is never remembered for too long', (_name, make) => {
  const property = fc.property(anySteps, (steps) => {
    const clock = new FakeClock();
    const server = make(clock);
    const memory = new RefusalMemory(1_000);
    for (const { afterMs, permits, isOther, latencyMs } of steps) {
      clock.advance(afterMs);
      const known = isOther ? undefined : memory.recall(permits, clock.now(), 1);
      const sinceMs = clock.now();
      if (known === undefined) clock.advance(latencyMs);
      const lease = server.attemptAcquire(permits);
      const retryAfterMs = lease.getMetadata('RETRY_AFTER') as number | undefined;
      if (known !== undefined) {
        expect(lease.isAcquired).toBe(false);
        if (server instanceof FixedWindowRateLimiter)
          expect(known.waitUs / 1_000).toBeGreaterThanOrEqual(retryAfterMs!);
        continue;
      }
      clock.advance(latencyMs);
      if (isOther || lease.isAcquired) continue;
      memory.keep(refusedFor(retryAfterMs!), { permits, sinceMs, nowMs: clock.now(), generation: 1 });
    }
  });
  fc.assert(property, { numRuns: 1_000 });
});

test('a lesser request, another generation, and the end of the time ask again', () => {
  const memory = new RefusalMemory(100);
  memory.keep(refusedFor(500), { permits: 3, sinceMs: 0, nowMs: 2, generation: 7 });
  expect(memory.recall(2, 10, 7)).toBeUndefined();
  expect(memory.recall(3, 10, 7)?.waitUs).toBe(492_000);
  expect(memory.recall(4, 99, 7)).toBeDefined();
  expect(memory.recall(4, 100, 7)).toBeUndefined();
  memory.keep(refusedFor(500), { permits: 3, sinceMs: 200, nowMs: 200, generation: 7 });
  expect(memory.recall(3, 201, 8)).toBeUndefined();
});

test('the refusal of the least request is kept', () => {
  const memory = new RefusalMemory(1_000);
  memory.keep(refusedFor(50), { permits: 1, sinceMs: 0, nowMs: 0, generation: 1 });
  memory.keep(refusedFor(900), { permits: 6, sinceMs: 10, nowMs: 10, generation: 1 });
  expect(memory.recall(1, 20, 1)).toBeDefined();
});
