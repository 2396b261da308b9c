import {
  ConcurrencyLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  isRateLimitError,
  RateLimitPartition,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from './index.js';

type Options = Record<string, unknown>;
type Construct = (options: Options) => unknown;

const LIMITERS: Record<string, { create: Construct; good: Options; options: Record<string, OptionKind> }> = {
  ConcurrencyLimiter: {
    create: (options) => new ConcurrencyLimiter(options as never),
    good: { permitLimit: 1 },
    options: { permitLimit: 'count', queueLimit: 'size' },
  },
  FixedWindowRateLimiter: {
    create: (options) => new FixedWindowRateLimiter(options as never),
    good: { permitLimit: 1, windowMs: 1 },
    options: { permitLimit: 'count', queueLimit: 'size', windowMs: 'duration' },
  },
  SlidingWindowRateLimiter: {
    create: (options) => new SlidingWindowRateLimiter(options as never),
    good: { permitLimit: 1, windowMs: 1, segmentsPerWindow: 1 },
    options: { permitLimit: 'count', queueLimit: 'size', windowMs: 'duration', segmentsPerWindow: 'count' },
  },
  TokenBucketRateLimiter: {
    create: (options) => new TokenBucketRateLimiter(options as never),
    good: { tokenLimit: 1, tokensPerPeriod: 1, replenishmentPeriodMs: 1 },
    options: {
      tokenLimit: 'count',
      tokensPerPeriod: 'count',
      queueLimit: 'size',
      replenishmentPeriodMs: 'duration',
    },
  },
  PartitionedRateLimiter: {
    create: (options) =>
      createPartitionedRateLimiter((key: string) => RateLimitPartition.getNoLimiter(key), options),
    good: {},
    options: { idleTimeoutMs: 'delay', maxPartitions: 'count' },
  },
};

type OptionKind = 'count' | 'size' | 'duration' | 'delay';
type ErrorKind = typeof RangeError | typeof TypeError;

/** Values, how a message shows them, and whether a kind of option takes them. */
const VALUES: readonly [value: unknown, shown: string, error: ErrorKind, fine: readonly OptionKind[]][] = [
  [NaN, 'NaN', RangeError, []],
  [Infinity, 'Infinity', RangeError, []],
  [-Infinity, '-Infinity', RangeError, []],
  [-1, '-1', RangeError, []],
  [-0, '-0', RangeError, ['size', 'delay']],
  [0, '0', RangeError, ['size', 'delay']],
  [0.5, '0.5', RangeError, ['duration', 'delay']],
  [2 ** 53, '9007199254740992', RangeError, ['duration', 'delay']],
  [1e308, '1e+308', RangeError, ['duration', 'delay']],
  ['10', '"10"', TypeError, []],
  ['', '""', TypeError, []],
  [null, 'null', TypeError, []],
  [10n, '10n', TypeError, []],
  [true, 'true', TypeError, []],
  [{}, 'an object (Object)', TypeError, []],
  [Object.create(null), 'an object (no prototype)', TypeError, []],
  [[1], 'an array of 1', TypeError, []],
  [Symbol('ten'), 'Symbol(ten)', TypeError, []],
  [() => 10, 'function', TypeError, []],
];

function errorOf(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe.each(Object.entries(LIMITERS))('the options of %s', (owner, { create, good, options }) => {
  const cases = Object.entries(options).flatMap(([option, kind]) =>
    VALUES.map(([value, shown, error, fine]) => ({
      option,
      value,
      shown,
      error,
      isFine: fine.includes(kind),
    })),
  );

  it.each(cases.filter(({ isFine }) => !isFine))(
    'reject $option of $shown, naming limiter, option and value',
    ({ option, value, shown, error }) => {
      const thrown = errorOf(() => create({ ...good, [option]: value }));
      expect(thrown).toBeInstanceOf(error);
      expect(isRateLimitError(thrown)).toBe(true);
      expect((thrown as { code: string }).code).toBe('ERR_RL_INVALID_OPTION');
      const { message } = thrown as Error;
      for (const part of [owner, option, shown, 'must be']) expect(message).toContain(part);
    },
  );

  it.each(cases.filter(({ isFine }) => isFine))('take $option of $shown', ({ option, value }) => {
    expect(() => create({ ...good, [option]: value })).not.toThrow();
  });

  it('need those that have no default', () => {
    const missing = Object.keys(good).map((option) =>
      errorOf(() => create({ ...good, [option]: undefined })),
    );
    expect(missing.every((error) => error instanceof TypeError)).toBe(true);
  });
});

describe.each(Object.entries(LIMITERS).filter(([owner]) => owner !== 'PartitionedRateLimiter'))(
  'the words and parts of %s',
  (_owner, { create, good }) => {
    it.each([
      ['queueProcessingOrder', 'newest', RangeError],
      ['queueProcessingOrder', '', RangeError],
      ['queueProcessingOrder', 1, TypeError],
      ['queueProcessingOrder', null, TypeError],
      ['clock', null, TypeError],
      ['clock', {}, TypeError],
      ['clock', { now: () => 0 }, TypeError],
    ])('reject %s of %p', (option, value, kind) => {
      const thrown = errorOf(() => create({ ...good, [option]: value }));
      expect(thrown).toBeInstanceOf(kind);
      expect((thrown as Error).message).toContain(option);
    });

    it.each([undefined, null, 1, 'options', true])('reject %p instead of options', (value) => {
      const thrown = errorOf(() => create(value as never));
      expect(thrown).toBeInstanceOf(TypeError);
      expect((thrown as Error).message).toContain('needs an options object');
    });

    it('take the defaults where an option is undefined', () => {
      const blank = { queueLimit: undefined, queueProcessingOrder: undefined, clock: undefined };
      const more = { autoReplenishment: undefined, refill: undefined };
      expect(() => create({ ...good, ...blank, ...more })).not.toThrow();
    });
  },
);

describe('options that only some limiters have', () => {
  it('reject an unknown refill and an autoReplenishment that is no boolean', () => {
    const bucket = { tokenLimit: 1, tokensPerPeriod: 1, replenishmentPeriodMs: 1 };
    expect(() => new TokenBucketRateLimiter({ ...bucket, refill: 'lumpy' as never })).toThrow(RangeError);
    expect(() => new TokenBucketRateLimiter({ ...bucket, refill: 1 as never })).toThrow(TypeError);
    for (const autoReplenishment of ['false', 0, null]) {
      expect(
        () => new TokenBucketRateLimiter({ ...bucket, autoReplenishment: autoReplenishment as never }),
      ).toThrow(/autoReplenishment must be true or false/);
    }
  });

  it('reject functions that are none in a partitioned limiter', () => {
    const partitioner = (key: string): RateLimitPartition<string> => RateLimitPartition.getNoLimiter(key);
    for (const option of ['keyIdentity', 'onError']) {
      expect(() => createPartitionedRateLimiter(partitioner, { [option]: 'no' })).toThrow(
        new RegExp(`${option} must be a function`),
      );
    }
    expect(() => createPartitionedRateLimiter('no' as never)).toThrow(TypeError);
    expect(() => createPartitionedRateLimiter(partitioner, null as never)).toThrow(TypeError);
  });

  it('never show a long value in full', () => {
    const thrown = errorOf(() => new ConcurrencyLimiter({ permitLimit: 'x'.repeat(10_000) as never }));
    expect((thrown as Error).message.length).toBeLessThan(300);
  });
});

describe('permit counts', () => {
  const create = (): ConcurrencyLimiter => new ConcurrencyLimiter({ permitLimit: 5, queueLimit: 5 });

  it.each([
    [NaN, RangeError, 'NaN'],
    [Infinity, RangeError, 'Infinity'],
    [-1, RangeError, '-1'],
    [1.5, RangeError, '1.5'],
    [6, RangeError, '6'],
    [2 ** 53, RangeError, '9007199254740992'],
    ['1', TypeError, '"1"'],
    [null, TypeError, 'null'],
    [1n, TypeError, '1n'],
    [{}, TypeError, 'an object'],
  ])('reject %p at once, and count nothing', async (count, kind, shown) => {
    const limiter = create();
    const thrown = errorOf(() => limiter.attemptAcquire(count as never));
    expect(thrown).toBeInstanceOf(kind);
    expect((thrown as Error).message).toContain('permitCount');
    expect((thrown as Error).message).toContain(shown);
    await expect(limiter.acquire(count as never)).rejects.toBeInstanceOf(kind);
    expect(limiter.getStatistics()).toEqual({
      currentAvailablePermits: 5,
      currentQueuedCount: 0,
      totalFailedLeases: 0,
      totalSuccessfulLeases: 0,
    });
  });

  it.each([
    [2 ** 53, 'at most 2^53 - 1'],
    [1e308, 'at most 2^53 - 1'],
    [-1, 'an integer of at least 0'],
    [Infinity, 'an integer of at least 0'],
    [2.5, 'an integer of at least 0'],
  ])('of %p are told what is allowed, alone and in a partition', (count, allowed) => {
    const message = `permitCount must be ${allowed}, but got ${String(count)}.`;
    expect((errorOf(() => create().attemptAcquire(count)) as Error).message).toBe(message);
    const partitioned = createPartitionedRateLimiter((key: string) => RateLimitPartition.getNoLimiter(key));
    expect((errorOf(() => partitioned.attemptAcquire('a', count)) as Error).message).toBe(message);
  });

  it('have codes that tell a senseless count from one above the limit', () => {
    expect(errorOf(() => create().attemptAcquire(-1))).toHaveProperty('code', 'ERR_RL_INVALID_PERMIT_COUNT');
    expect(errorOf(() => create().attemptAcquire(6))).toHaveProperty(
      'code',
      'ERR_RL_PERMIT_COUNT_ABOVE_LIMIT',
    );
  });

  it('are judged before the end of the limiter and an aborted signal', async () => {
    const limiter = create();
    limiter.dispose();
    const signal = AbortSignal.abort(new Error('aborted'));
    await expect(limiter.acquire(6, { signal })).rejects.toThrow(RangeError);
    await expect(limiter.acquire(0, { signal })).rejects.toHaveProperty('code', 'ERR_RL_OBJECT_DISPOSED');
  });

  it.each([
    [NaN, RangeError],
    [-1, RangeError],
    ['10', TypeError],
    [null, TypeError],
  ])('come with a maxWaitMs that must be a wait, not %p', async (maxWaitMs, kind) => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
    const request = limiter.acquire(1, { maxWaitMs: maxWaitMs as never });
    await expect(request).rejects.toBeInstanceOf(kind);
    await expect(limiter.acquire(1, { maxWaitMs: maxWaitMs as never })).rejects.toThrow(/maxWaitMs/);
    expect(limiter.getStatistics().totalSuccessfulLeases).toBe(0);
  });
});
