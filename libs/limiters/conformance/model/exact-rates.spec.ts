import * as fc from 'fast-check';
import { createPartitionedRateLimiter, RateLimitPartition } from '../../src/index.js';
import type { FakeClock } from '../../src/testing/index.js';
import type { RateSetup } from './exact-rate.js';
import { anyRateSetup, anyRateTrace, createRate, rateOptions, RateTrial } from './rate-trial.js';
import type { RateSubject } from './rate-trial.js';

const KINDS = ['fixedWindow', 'slidingWindow', 'greedyBucket', 'intervalBucket'] as const;
const HELPERS = {
  fixedWindow: RateLimitPartition.getFixedWindowLimiter,
  slidingWindow: RateLimitPartition.getSlidingWindowLimiter,
  greedyBucket: RateLimitPartition.getTokenBucketLimiter,
  intervalBucket: RateLimitPartition.getTokenBucketLimiter,
} as const;

/** Partitions whose states lie side by side. */
function createRows(setup: RateSetup, clock: FakeClock): (key: number) => RateSubject {
  const limiter = createPartitionedRateLimiter(
    (key: number) => HELPERS[setup.kind](key, () => rateOptions(setup)),
    { clock, idleTimeoutMs: Number.MAX_SAFE_INTEGER },
  );
  return (key) => ({
    attemptAcquire: (permits) => limiter.attemptAcquire(key, permits),
    getStatistics: () => limiter.getStatistics(key),
  });
}

describe.each(KINDS)('a limiter of the kind %s, of any size', (kind) => {
  it('knows to the nanosecond what is available, since when, and when more will be', () => {
    fc.assert(
      fc.property(anyRateSetup(kind), anyRateTrace, (setup, trace) => {
        const trial = new RateTrial(setup, (clock) => () => createRate(setup, clock));
        for (const command of trace) {
          trial.run(command);
          trial.look();
        }
      }),
      { numRuns: 60 },
    );
  });

  it('knows it as well where nobody looks in between', () => {
    fc.assert(
      fc.property(anyRateSetup(kind), anyRateTrace, (setup, trace) => {
        const trial = new RateTrial(setup, (clock) => () => createRate(setup, clock));
        for (const command of trace) trial.run(command);
        trial.look();
      }),
      { numRuns: 60 },
    );
  });

  it('knows it as one of many partitions, and leaves those beside it alone', () => {
    fc.assert(
      fc.property(anyRateSetup(kind), anyRateTrace, (any, trace) => {
        const setup = { ...any, isManual: false };
        const trial = new RateTrial(setup, (clock) => createRows(setup, clock));
        for (const command of trace) trial.run(command);
        trial.look();
      }),
      { numRuns: 40 },
    );
  });
});
