import {
  ConcurrencyLimiter,
  createChainedRateLimiter,
  FixedWindowRateLimiter,
  RateLimitPartition,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '../index.js';
import type { RateLimiter } from '../index.js';
import type { FakeClock, RateLimiterTraits } from './index.js';
import { rateLimiterConformance } from './index.js';

const queued = { permitLimit: 3, queueLimit: 6 };
const timed = { ...queued, replenishedAfterMs: 1_000 };

type Case = [title: string, traits: RateLimiterTraits, create: (clock: FakeClock) => RateLimiter];

const concurrency = (clock: FakeClock): ConcurrencyLimiter =>
  new ConcurrencyLimiter({ permitLimit: 3, queueLimit: 6, clock });
const fixed = (clock: FakeClock): FixedWindowRateLimiter =>
  new FixedWindowRateLimiter({ permitLimit: 3, windowMs: 1_000, queueLimit: 6, clock });
const sliding = (clock: FakeClock): SlidingWindowRateLimiter =>
  new SlidingWindowRateLimiter({ permitLimit: 3, windowMs: 900, segmentsPerWindow: 9, queueLimit: 6, clock });
const bucket = (clock: FakeClock, refill: 'greedy' | 'interval', autoReplenishment = true): RateLimiter =>
  new TokenBucketRateLimiter({
    tokenLimit: 3,
    tokensPerPeriod: 1,
    replenishmentPeriodMs: 300,
    queueLimit: 6,
    refill,
    autoReplenishment,
    clock,
  });

const cases: Case[] = [
  ['a concurrency limiter', queued, concurrency],
  [
    'a concurrency limiter without a queue',
    { permitLimit: 3 },
    () => new ConcurrencyLimiter({ permitLimit: 3 }),
  ],
  ['a fixed window', timed, fixed],
  ['a sliding window', timed, sliding],
  ['a greedy token bucket', timed, (clock) => bucket(clock, 'greedy')],
  ['an interval token bucket', timed, (clock) => bucket(clock, 'interval')],
  ['a token bucket replenished by hand', timed, (clock) => bucket(clock, 'interval', false)],
  ['a chain of one', queued, (clock) => createChainedRateLimiter(concurrency(clock))],
  [
    'a chain of three',
    timed,
    (clock) => createChainedRateLimiter(concurrency(clock), fixed(clock), bucket(clock, 'greedy')),
  ],
  [
    'a chain of chains',
    timed,
    (clock) => createChainedRateLimiter(createChainedRateLimiter(sliding(clock)), concurrency(clock)),
  ],
];

/** The limiter that a helper makes for a partition. */
function madeBy(partition: RateLimitPartition<string>, clock: FakeClock): RateLimiter {
  return partition.factory(partition.partitionKey, { clock });
}

const partitions: Case[] = [
  [
    'a concurrency partition',
    queued,
    (clock) =>
      madeBy(
        RateLimitPartition.getConcurrencyLimiter('key', () => queued),
        clock,
      ),
  ],
  [
    'a fixed window partition',
    timed,
    (clock) =>
      madeBy(
        RateLimitPartition.getFixedWindowLimiter('key', () => ({ ...queued, windowMs: 1_000 })),
        clock,
      ),
  ],
];

describe.each([...cases, ...partitions])('the conformance suite, run over %s', (_title, traits, create) => {
  it.each(rateLimiterConformance(create, traits))('$name', ({ run }) => run());
});
