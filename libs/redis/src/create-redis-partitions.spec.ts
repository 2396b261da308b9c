import { isRateLimitError } from '@ratelease/limiters';
import { Redis } from 'ioredis';
import type { RedisPartitions } from './create-redis-partitions.js';
import { createRedisPartitions } from './create-redis-partitions.js';

// Never connected: nothing here asks it.
const client = new Redis({ lazyConnect: true });
let shared: RedisPartitions;
beforeEach(() => {
  shared = createRedisPartitions({ client });
});

afterEach(() => shared.dispose());

const DAYS = 86_400_000;
const limiterOf = (partition: { partitionKey: string; factory(key: string): unknown }): unknown =>
  partition.factory(partition.partitionKey);
function codeOf(make: () => unknown): string | undefined {
  try {
    make();
  } catch (error) {
    return isRateLimitError(error) ? error.code : String(error);
  }
  return undefined;
}

describe('options', () => {
  test.each([
    [{ client: {} }],
    [{ client, prefix: '' }],
    [{ client, prefix: 'a{b' }],
    [{ client, commandTimeoutMs: 0 }],
    [{ client, whenUnavailable: 'maybe' }],
    [{ client, instances: 0.5 }],
  ])('outside their range are errors: %#', (options) => {
    expect(codeOf(() => createRedisPartitions(options as never))).toBe('ERR_RL_INVALID_OPTION');
  });

  test.each([
    ['a fixed window', 1e12, 40 * DAYS],
    ['a fixed window', 2 ** 53 - 1, 1],
  ])('of %s whose limit times its time passes 2^53 µs are errors', (_what, permitLimit, windowMs) => {
    const window = { permitLimit, windowMs };
    expect(codeOf(() => limiterOf(shared.getFixedWindowLimiter('key', () => window)))).toBe(
      'ERR_RL_INVALID_OPTION',
    );
    const bucket = { tokenLimit: permitLimit, tokensPerPeriod: 1, replenishmentPeriodMs: windowMs };
    expect(codeOf(() => limiterOf(shared.getTokenBucketLimiter('key', () => bucket)))).toBe(
      'ERR_RL_INVALID_OPTION',
    );
  });

  test.each([
    [1e12, 1],
    [2_600, 40 * DAYS],
  ])('of %d permits in %d ms are fine', (permitLimit, windowMs) => {
    expect(
      codeOf(() => limiterOf(shared.getFixedWindowLimiter('key', () => ({ permitLimit, windowMs })))),
    ).toBeUndefined();
  });

  test.each(['getFixedWindowLimiter', 'getSlidingWindowLimiter', 'getTokenBucketLimiter'] as const)(
    'of %s shorter than the clock of a server can tell are errors that say so, one step of it is none',
    (get) => {
      const codeAt = (ms: number): unknown =>
        codeOf(() =>
          limiterOf(
            shared[get]('key', () => ({
              ...{ permitLimit: 1, windowMs: ms, segmentsPerWindow: 1 },
              ...{ tokenLimit: 1, tokensPerPeriod: 1, replenishmentPeriodMs: ms },
            })),
          ),
        );
      expect(codeAt(0.0001)).toBe('ERR_RL_INVALID_OPTION');
      expect(codeAt(0.00099)).toBe('ERR_RL_INVALID_OPTION');
      expect(codeAt(0.001)).toBeUndefined();
    },
  );

  test('of a lease that would end beyond the numbers of a server are errors', () => {
    const leaseTtlMs = Number.MAX_SAFE_INTEGER;
    expect(
      codeOf(() => limiterOf(shared.getConcurrencyLimiter('key', () => ({ permitLimit: 1, leaseTtlMs })))),
    ).toBe('ERR_RL_INVALID_OPTION');
  });

  test('of a lease shorter than a second, or that replenishes by hand, are errors', () => {
    const lease = { permitLimit: 1, leaseTtlMs: 999 };
    expect(codeOf(() => limiterOf(shared.getConcurrencyLimiter('key', () => lease)))).toBe(
      'ERR_RL_INVALID_OPTION',
    );
    const manual = { permitLimit: 1, windowMs: 1, autoReplenishment: false };
    expect(codeOf(() => limiterOf(shared.getFixedWindowLimiter('key', () => manual)))).toBe(
      'ERR_RL_INVALID_OPTION',
    );
  });

  test.each([
    [-1, 0],
    [1.5, 0],
    ['9', 0],
    [10, 5],
  ])('to reserve %p ahead beside a queue of %d is an error', (reserveAhead, queueLimit) => {
    const window = { permitLimit: 100, windowMs: 1_000, queueLimit, reserveAhead: reserveAhead as number };
    expect(codeOf(() => limiterOf(shared.getFixedWindowLimiter('key', () => window)))).toBe(
      'ERR_RL_INVALID_OPTION',
    );
  });

  test('must come from a function', () => {
    expect(codeOf(() => shared.getFixedWindowLimiter('key', {} as never))).toBe('ERR_RL_INVALID_ARGUMENT');
  });
});

describe('a request', () => {
  const limiter = (): { acquire(permits: unknown): Promise<unknown> } =>
    limiterOf(shared.getFixedWindowLimiter('key', () => ({ permitLimit: 5, windowMs: 1_000 }))) as never;

  test.each([
    [-1, 'ERR_RL_INVALID_PERMIT_COUNT'],
    [1.5, 'ERR_RL_INVALID_PERMIT_COUNT'],
    ['1', 'ERR_RL_INVALID_PERMIT_COUNT'],
    [6, 'ERR_RL_PERMIT_COUNT_ABOVE_LIMIT'],
  ])('for %p permits is an error', async (permits, code) => {
    await expect(limiter().acquire(permits)).rejects.toMatchObject({ code });
  });

  test('after the end is an error', async () => {
    const late = limiter();
    await shared.dispose();
    await expect(late.acquire(1)).rejects.toMatchObject({ code: 'ERR_RL_OBJECT_DISPOSED' });
  });
});
