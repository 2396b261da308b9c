import type { PartitionedRateLimiter } from '@ratelease/limiters';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  RateLimitPartition,
} from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import * as fc from 'fast-check';
import type { PolicyOrChain, SimulatedPolicy } from './policies/policy-options.js';
import { simulate } from './simulate.js';
import type { TraceEntry } from './trace/trace-entry.js';

/** What a driver finds of each entry: `granted after 20`. */
type Outcomes = Map<TraceEntry, string>;

const HELPERS = {
  concurrency: RateLimitPartition.getConcurrencyLimiter,
  tokenBucket: RateLimitPartition.getTokenBucketLimiter,
  fixedWindow: RateLimitPartition.getFixedWindowLimiter,
  slidingWindow: RateLimitPartition.getSlidingWindowLimiter,
} as Record<string, (key: string, factory: () => never) => RateLimitPartition<string>>;

function limiterOf(policy: PolicyOrChain, clock: FakeClock): PartitionedRateLimiter<TraceEntry> {
  const members = (Array.isArray(policy) ? policy : [policy]) as SimulatedPolicy[];
  const limiters = members.map(({ algorithm, key, ...numbers }) =>
    createPartitionedRateLimiter<TraceEntry, string>(
      ({ ip }) => HELPERS[algorithm]!(key === undefined ? '' : ip!, () => numbers as never),
      { clock },
    ),
  );
  return limiters.length === 1 ? limiters[0]! : createChainedPartitionedRateLimiter(...limiters);
}

/** Every millisecond by itself, with time for every promise: slow, and nothing to get wrong. */
async function byHand(
  policy: PolicyOrChain,
  entries: readonly TraceEntry[],
  maxWaitMs: number,
): Promise<Outcomes> {
  const clock = new FakeClock();
  const limiter = limiterOf(policy, clock);
  const outcomes: Outcomes = new Map();
  const ask = async (entry: TraceEntry): Promise<void> => {
    const came = clock.now();
    const lease = await limiter.acquire(entry, 1, { maxWaitMs });
    outcomes.set(entry, `${lease.isAcquired ? 'granted' : 'refused'} after ${clock.now() - came}`);
    if (lease.isAcquired) clock.setTimer(() => lease.dispose(), entry.durationMs!);
  };
  const waiting = [...entries];
  while (outcomes.size < entries.length) {
    while (waiting[0]?.timeMs === clock.now()) {
      void ask(waiting.shift()!);
      await new Promise(setImmediate);
    }
    clock.advance(1);
    await new Promise(setImmediate);
  }
  limiter.dispose();
  return outcomes;
}

async function simulated(
  policy: PolicyOrChain,
  entries: readonly TraceEntry[],
  maxWaitMs: number,
): Promise<Outcomes> {
  const outcomes: Outcomes = new Map();
  await simulate({ policy }, entries, {
    maxWaitMs,
    onOutcome: ({ entry, outcome, waitedMs }) => outcomes.set(entry, `${outcome} after ${waitedMs}`),
  });
  return outcomes;
}

const small = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max });
const queue = {
  queueLimit: fc.nat(4),
  queueProcessingOrder: fc.constantFrom('oldestFirst', 'newestFirst'),
  key: fc.constantFrom('ip', undefined),
};
/** Numbers whose permits come back at whole milliseconds. */
const policies = fc.oneof(
  fc.record({ algorithm: fc.constant('concurrency'), permitLimit: small(3), ...queue }),
  fc.record({ algorithm: fc.constant('fixedWindow'), permitLimit: small(4), windowMs: small(40), ...queue }),
  fc.record({
    algorithm: fc.constant('slidingWindow'),
    permitLimit: small(4),
    windowMs: small(10).map((tenth) => tenth * 4),
    segmentsPerWindow: fc.constantFrom(1, 2, 4),
    ...queue,
  }),
  fc.record({
    algorithm: fc.constant('tokenBucket'),
    tokenLimit: small(5),
    tokensPerPeriod: fc.constant(1),
    replenishmentPeriodMs: small(20),
    refill: fc.constantFrom('greedy', 'interval'),
    ...queue,
  }),
) as fc.Arbitrary<SimulatedPolicy>;

const traces = fc
  .array(fc.record({ gap: fc.nat(12), durationMs: small(30), ip: fc.constantFrom('a', 'b') }), {
    minLength: 1,
    maxLength: 20,
  })
  .map((steps) => {
    let timeMs = 0;
    return steps.map(({ gap, durationMs, ip }, index) => ({
      timeMs: (timeMs += index === 0 ? 0 : gap),
      durationMs,
      ip,
    }));
  });

const maxWaits = fc.constantFrom(10, 1e6);

describe('a simulation decides what the limiters decide when they are driven by hand', () => {
  it('with one policy', async () => {
    await fc.assert(
      fc.asyncProperty(policies, traces, maxWaits, async (policy, entries, maxWaitMs) => {
        expect(await simulated(policy, entries, maxWaitMs)).toEqual(await byHand(policy, entries, maxWaitMs));
      }),
      { numRuns: 80 },
    );
  });

  it('with a chain', async () => {
    await fc.assert(
      fc.asyncProperty(policies, policies, traces, maxWaits, async (one, other, entries, maxWaitMs) => {
        const chain = [one, other];
        expect(await simulated(chain, entries, maxWaitMs)).toEqual(await byHand(chain, entries, maxWaitMs));
      }),
      { numRuns: 60 },
    );
  });
});
