import {
  ChainedRateLimiter,
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  isRateLimitError,
  ObjectDisposedError,
  PartitionedRateLimiter,
  RateLimitPartition,
} from './index.js';
import type { RateLimiterStatistics, RateLimitLease } from './index.js';

const running = (): ConcurrencyLimiter => new ConcurrencyLimiter({ permitLimit: 1 });
const perKey = () =>
  createPartitionedRateLimiter((key: string) =>
    RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1 })),
  );
const keyed = (partition: unknown) => createPartitionedRateLimiter((_key: string) => partition as never);

const ARGUMENT = 'ERR_RL_INVALID_ARGUMENT';
const OPTION = 'ERR_RL_INVALID_OPTION';
const DISPOSED = 'ERR_RL_OBJECT_DISPOSED';

/** What is wrong, the code of the error, and what it says. */
const MISTAKES: [string, string, string, () => unknown][] = [
  [
    'a chain of nothing',
    ARGUMENT,
    'A chain needs at least one RateLimiter, but got none.',
    () => createChainedRateLimiter(),
  ],
  [
    'a chain of a member instead of an array of members',
    ARGUMENT,
    'A chain needs an array of RateLimiters, but got 3.',
    () => new ChainedRateLimiter(3 as never),
  ],
  [
    'a chain with something else in it',
    ARGUMENT,
    'Member 1 of a chain must be a RateLimiter, but got null.',
    () => createChainedRateLimiter(running(), null as never),
  ],
  [
    'a chain of partitioned limiters of nothing',
    ARGUMENT,
    'A chain needs at least one PartitionedRateLimiter, but got none.',
    () => createChainedPartitionedRateLimiter(),
  ],
  [
    'a chain of partitioned limiters with something else in it',
    ARGUMENT,
    'Member 0 of a chain must be a PartitionedRateLimiter, but got undefined.',
    () => createChainedPartitionedRateLimiter(undefined as never),
  ],
  [
    'a chain of partitioned limiters with a plain one in it',
    ARGUMENT,
    'Member 0 of a chain must be a PartitionedRateLimiter, but got an object (ConcurrencyLimiter).',
    () => createChainedPartitionedRateLimiter(running() as never),
  ],
  [
    'a partitioner that is none',
    ARGUMENT,
    'The partitioner must be a function, but got "key".',
    () => createPartitionedRateLimiter('key' as never),
  ],
  [
    'a partitioner that returns no partition',
    ARGUMENT,
    'The partitioner must return a partition, as RateLimitPartition.get… make them, but got undefined.',
    () => keyed(undefined).attemptAcquire(''),
  ],
  [
    'a partition whose factory returns no limiter',
    ARGUMENT,
    'The factory of a partition must return a limiter, but for the key "k" it returned null.',
    () => keyed(RateLimitPartition.get('k', () => null as never)).attemptAcquire(''),
  ],
  [
    'the factory of a helper’s partition without the partition',
    ARGUMENT,
    'The factory of a partition of RateLimitPartition.get… was called on undefined. Call it on its partition: ' +
      'partition.factory(key), or (key) => partition.factory(key) where a function is needed.',
    () => {
      const { factory } = RateLimitPartition.getConcurrencyLimiter('k', () => ({ permitLimit: 1 }));
      return factory('k');
    },
  ],
  [
    'a helper without a factory',
    ARGUMENT,
    'RateLimitPartition.getTokenBucketLimiter needs a function that returns options, but got an object (Object). Wrap them: () => ({ … }).',
    () => RateLimitPartition.getTokenBucketLimiter('k', {} as never),
  ],
  [
    'a helper whose factory returns no options',
    OPTION,
    'getFixedWindowLimiter needs an options object, but got undefined.',
    () => keyed(RateLimitPartition.getFixedWindowLimiter('k', () => undefined as never)).attemptAcquire(''),
  ],
  [
    'a key adapter that is none',
    ARGUMENT,
    'The key adapter must be a function, but got 5.',
    () => perKey().withTranslatedKey(5 as never),
  ],
  [
    'an idle timeout without end',
    OPTION,
    'PartitionedRateLimiter: idleTimeoutMs must be a finite number of milliseconds of at least 0, but got Infinity.',
    () =>
      createPartitionedRateLimiter((key: string) => RateLimitPartition.getNoLimiter(key), {
        idleTimeoutMs: Infinity,
      }),
  ],
  [
    'a limit on the wait that is none',
    OPTION,
    'acquire: maxWaitMs must be a number of milliseconds of at least 0, but got -1.',
    () => running().acquire(1, { maxWaitMs: -1 }),
  ],
  [
    'the same for a partition',
    OPTION,
    'acquire: maxWaitMs must be a number of milliseconds of at least 0, but got NaN.',
    () => perKey().acquire('k', 1, { maxWaitMs: NaN }),
  ],
  [
    'an order that there isn’t',
    OPTION,
    "ConcurrencyLimiter: queueProcessingOrder must be 'oldestFirst' or 'newestFirst', but got \"newest\".",
    () => new ConcurrencyLimiter({ permitLimit: 1, queueProcessingOrder: 'newest' as never }),
  ],
  [
    'a flag that is none',
    OPTION,
    'FixedWindowRateLimiter: autoReplenishment must be true or false, but got "yes" (string).',
    () => new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1, autoReplenishment: 'yes' as never }),
  ],
  [
    'a clock that is none',
    OPTION,
    'ConcurrencyLimiter: clock must have the methods now and setTimer, but got an object (Object).',
    () => new ConcurrencyLimiter({ permitLimit: 1, clock: { now: () => 0 } as never }),
  ],
  [
    'a call after the end',
    DISPOSED,
    'FixedWindowRateLimiter was disposed and gives no more permits. Keep it until its last user is done, or make a new one.',
    () => {
      const limiter = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1 });
      limiter.dispose();
      return limiter.attemptAcquire();
    },
  ],
  ...(
    [
      ['PartitionedRateLimiter', perKey],
      ['ChainedPartitionedRateLimiter', () => createChainedPartitionedRateLimiter(perKey())],
      ['TranslatingRateLimiter', () => perKey().withTranslatedKey((key: string) => key)],
    ] as const
  ).map(([name, create]): [string, string, string, () => unknown] => [
    `a call after the end of a ${name}`,
    DISPOSED,
    `${name} was disposed and gives no more permits. Keep it until its last user is done, or make a new one.`,
    () => {
      const limiter = create();
      limiter.dispose();
      return limiter.attemptAcquire('k');
    },
  ]),
  [
    'a call after the end of a chain',
    DISPOSED,
    'ChainedRateLimiter was disposed and gives no more permits. Keep it until its last user is done, or make a new one.',
    () => {
      const chain = createChainedRateLimiter(running());
      chain.dispose();
      return chain.attemptAcquire();
    },
  ],
];

describe('the error for', () => {
  it.each(MISTAKES)('%s has a code and says what was wrong', async (_mistake, code, message, make) => {
    const error = await (async () => make())().catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code, message });
    expect(isRateLimitError(error)).toBe(true);
    const kind =
      code === DISPOSED
        ? ObjectDisposedError
        : /-1|NaN|newest|Infinity/.test(message)
          ? RangeError
          : TypeError;
    expect(error).toBeInstanceOf(kind);
  });
});

describe('a partitioned limiter of another maker', () => {
  class Foreign extends PartitionedRateLimiter<string> {
    readonly inner = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5 });
    readonly signals: unknown[] = [];
    ends = 0;

    override getStatistics(): RateLimiterStatistics {
      return this.inner.getStatistics();
    }

    override dispose(): void {
      this.ends++;
    }

    protected override attemptAcquireCore(_key: string, permits: number): RateLimitLease {
      return this.inner.attemptAcquire(permits);
    }

    protected override acquireCore(
      _key: string,
      permits: number,
      signal?: AbortSignal,
    ): Promise<RateLimitLease> {
      this.signals.push(signal);
      return this.inner.acquire(permits, { signal });
    }
  }

  it('need know nothing of limits on a wait: its acquisition is aborted', async () => {
    const limiter = new Foreign();
    limiter.attemptAcquire('');
    const refused = await limiter.acquire('', 1, { maxWaitMs: 1 });
    expect(refused.getMetadata('REASON_PHRASE')).toBe('Wait limit reached');
    expect(limiter.getStatistics().currentQueuedCount).toBe(0);
    const { signal } = new AbortController();
    limiter.inner.reset();
    await limiter.acquire('', 1, { signal, maxWaitMs: Infinity });
    expect(limiter.signals.at(-1)).toBe(signal);
  });

  it('ends with `using`, and once with a translated limiter', async () => {
    const limiter = new Foreign();
    limiter[Symbol.dispose]();
    await limiter[Symbol.asyncDispose]();
    expect(limiter.ends).toBe(2);
    const translated = limiter.withTranslatedKey((key: string) => key);
    translated.dispose();
    translated.dispose();
    expect(limiter.ends).toBe(3);
  });
});

describe('a translated limiter', () => {
  it('hands on the signal that ends a wait', async () => {
    const inner = createPartitionedRateLimiter((key: string) =>
      RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1, queueLimit: 1 })),
    );
    const translated = inner.withTranslatedKey((key: number) => String(key));
    translated.attemptAcquire(1);
    const abort = new AbortController();
    const waiting = translated.acquire(1, 1, { signal: abort.signal });
    abort.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
  });
});

describe('a partitioned limiter that has ended', () => {
  it('has no statistics, and makes no partition for them', () => {
    let calls = 0;
    const limiter = createPartitionedRateLimiter((key: string) => {
      calls++;
      return RateLimitPartition.getNoLimiter(key);
    });
    limiter.dispose();
    expect(limiter.getStatistics('k')).toBeNull();
    expect(calls).toBe(0);
  });
});
