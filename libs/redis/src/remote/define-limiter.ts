import {
  ConcurrencyLimiter,
  FixedWindowRateLimiter,
  RateLimitPartition,
  SlidingWindowRateLimiter,
  systemClock,
  TokenBucketRateLimiter,
} from '@ratelease/limiters';
import type { LimiterOptions } from '@ratelease/limiters';
import { positiveInteger, positiveTime, requireTime, requireWhenUnavailable } from '../checks.js';
import { rangeError, typeError } from '../errors.js';
import { textPart } from '../keys/key-text.js';
import type { AlgorithmName } from '../scripts/compose-script.js';
import { exactMicroseconds, greatestCommonDivisor } from './exact-numbers.js';
import type { FailurePolicy, LimiterDefinition } from './limiter-definition.js';
import type {
  RedisConcurrencyLimiterOptions,
  RedisFixedWindowLimiterOptions,
  RedisSlidingWindowLimiterOptions,
  RedisTokenBucketLimiterOptions,
  SharedRateLimiterOptions,
} from './limiter-options.js';

/** What a limiter takes over from the options of `createRedisPartitions`. */
export interface SharedDefaults extends FailurePolicy {
  readonly instances: number;
}

const DEFAULT_LEASE_TTL_MS = 30_000;
const SHORTEST_LEASE_TTL_MS = 1_000;
/** The segments of a window are written out at each decision. */
const MOST_SEGMENTS = 1_000;

let lastRevision = 0;

/** What the options of each kind of limiter have. */
type AnyOptions = SharedRateLimiterOptions & LimiterOptions & { autoReplenishment?: boolean | undefined };

interface Numbers<TOptions = AnyOptions> {
  readonly algorithm: AlgorithmName;
  readonly numbers: readonly number[];
  readonly limit: number;
  readonly windowMs: number | undefined;
  readonly reservedForUs?: (resetUs: number) => number;
  /** Makes the partition of such a limiter in this process. */
  readonly inProcess: (key: string, options: () => TOptions) => RateLimitPartition<string>;
  /** What is different in the options of one that has that share of the limit. */
  readonly shareOf: (limit: number, instances: number) => Partial<TOptions>;
}

/** @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for options outside their range. */
export function defineFixedWindow(
  options: RedisFixedWindowLimiterOptions,
  defaults: SharedDefaults,
): LimiterDefinition {
  // The limiter in process checks what both have, and says it in its words.
  void new FixedWindowRateLimiter(options);
  const { permitLimit, windowMs } = options;
  const window = exactMicroseconds('fixed window', 'windowMs', windowMs, permitLimit);
  const numbers = [permitLimit, window];
  return define(options, defaults, {
    algorithm: 'fixedWindow',
    numbers,
    limit: permitLimit,
    windowMs,
    inProcess: RateLimitPartition.getFixedWindowLimiter,
    shareOf: (share) => ({ permitLimit: share }),
    // They are void with the window: it never grants more than its limit.
    reservedForUs: (resetUs) => resetUs,
  });
}

/** @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for options outside their range. */
export function defineSlidingWindow(
  options: RedisSlidingWindowLimiterOptions,
  defaults: SharedDefaults,
): LimiterDefinition {
  void new SlidingWindowRateLimiter(options);
  const { permitLimit, windowMs, segmentsPerWindow } = options;
  const window = exactMicroseconds('sliding window', 'windowMs', windowMs, permitLimit);
  if (segmentsPerWindow > MOST_SEGMENTS || segmentsPerWindow > window) {
    throw rangeError(
      'ERR_RL_INVALID_OPTION',
      `Shared sliding window: segmentsPerWindow must be at most ${Math.min(MOST_SEGMENTS, window)}, but got ${segmentsPerWindow}.`,
    );
  }
  exactMicroseconds('sliding window', 'windowMs', windowMs, 2 * segmentsPerWindow);
  const numbers = [permitLimit, window, segmentsPerWindow];
  return define(options, defaults, {
    algorithm: 'slidingWindow',
    numbers,
    limit: permitLimit,
    windowMs,
    inProcess: RateLimitPartition.getSlidingWindowLimiter,
    shareOf: (share) => ({ permitLimit: share }),
    // They are void with the segment, which is a window before they come back: what is spent counts where it is spent.
    reservedForUs: (resetUs) => resetUs - window + Math.floor(window / segmentsPerWindow),
  });
}

/** @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for options outside their range. */
export function defineTokenBucket(
  options: RedisTokenBucketLimiterOptions,
  defaults: SharedDefaults,
): LimiterDefinition {
  void new TokenBucketRateLimiter(options);
  const { tokenLimit, tokensPerPeriod, replenishmentPeriodMs } = options;
  const period = exactMicroseconds(
    'token bucket',
    'replenishmentPeriodMs',
    replenishmentPeriodMs,
    tokenLimit,
  );
  const isGreedy = options.refill !== 'interval';
  const divisor = isGreedy ? greatestCommonDivisor(tokensPerPeriod, period) : 1;
  return define(options, defaults, {
    algorithm: isGreedy ? 'greedyBucket' : 'intervalBucket',
    numbers: isGreedy
      ? [tokenLimit, period / divisor, tokensPerPeriod / divisor]
      : [tokenLimit, tokensPerPeriod, period],
    limit: tokenLimit,
    windowMs: isGreedy
      ? (tokenLimit * period) / tokensPerPeriod / 1_000
      : Math.ceil(tokenLimit / tokensPerPeriod) * replenishmentPeriodMs,
    inProcess: RateLimitPartition.getTokenBucketLimiter,
    // The rate stays what it is: the same tokens, but in so many times the period.
    shareOf: (share, instances) => ({
      tokenLimit: share,
      replenishmentPeriodMs: replenishmentPeriodMs * instances,
    }),
  });
}

/** @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for options outside their range. */
export function defineConcurrency(
  options: RedisConcurrencyLimiterOptions,
  defaults: SharedDefaults,
): LimiterDefinition {
  void new ConcurrencyLimiter(options);
  const { permitLimit, leaseTtlMs = DEFAULT_LEASE_TTL_MS } = options;
  positiveInteger('Shared concurrency limiter: leaseTtlMs', leaseTtlMs, SHORTEST_LEASE_TTL_MS);
  // What is kept of a limiter lives for four times that from the present on, which is a number of µs too.
  exactMicroseconds('concurrency limiter', 'leaseTtlMs', leaseTtlMs, 8);
  return {
    ...define(options, defaults, {
      algorithm: 'concurrency',
      numbers: [permitLimit, options.queueLimit ?? 0, leaseTtlMs * 1_000],
      limit: permitLimit,
      windowMs: undefined,
      inProcess: RateLimitPartition.getConcurrencyLimiter,
      shareOf: (share) => ({ permitLimit: share }),
    }),
    leaseTtlMs,
  };
}

function define<TOptions extends AnyOptions>(
  options: TOptions,
  defaults: SharedDefaults,
  made: Numbers<TOptions>,
): LimiterDefinition {
  if (options.autoReplenishment === false) {
    throw rangeError(
      'ERR_RL_INVALID_OPTION',
      'A shared limiter replenishes by the server’s time: autoReplenishment can’t be false.',
    );
  }
  const { instances = defaults.instances, commandTimeoutMs = defaults.commandTimeoutMs } = options;
  const { whenUnavailable = defaults.whenUnavailable, refusalCacheMs = defaults.refusalCacheMs } = options;
  positiveInteger('Shared limiter: instances', instances, 1);
  const isNewestFirst = options.queueProcessingOrder === 'newestFirst';
  const texts = made.numbers.map(String);
  const localLimit = Math.max(1, Math.floor(made.limit / instances));
  return {
    revision: ++lastRevision,
    algorithm: made.algorithm,
    name: nameOf(options.name, made),
    numbers: made.algorithm === 'concurrency' ? [...texts, isNewestFirst ? 'n' : 'o'] : texts,
    limit: made.limit,
    windowMs: made.windowMs,
    returnsAtEnd: made.algorithm === 'fixedWindow' || made.algorithm === 'slidingWindow',
    queueLimit: options.queueLimit ?? 0,
    reserveAhead: reserveAheadOf(options),
    instances,
    isNewestFirst,
    leaseTtlMs: 0,
    clock: options.clock ?? systemClock,
    usesDefaultClock: options.clock === undefined,
    whenUnavailable: requireWhenUnavailable('Shared limiter', whenUnavailable),
    commandTimeoutMs: positiveTime('Shared limiter: commandTimeoutMs', commandTimeoutMs),
    refusalCacheMs: requireTime('Shared limiter: refusalCacheMs', refusalCacheMs),
    localLimit,
    localPartition: (key, clock) =>
      made.inProcess(key, () => ({ ...options, clock, ...made.shareOf(localLimit, instances) })),
    reservedForUs: made.reservedForUs ?? (() => Infinity),
  };
}

/** @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for no integer of at least 0, and beside a queue. */
function reserveAheadOf({
  reserveAhead = 0,
  queueLimit = 0,
}: SharedRateLimiterOptions & LimiterOptions): number {
  positiveInteger('Shared limiter: reserveAhead', reserveAhead, 0);
  if (reserveAhead === 0 || queueLimit === 0) return reserveAhead;
  throw rangeError(
    'ERR_RL_INVALID_OPTION',
    `Shared limiter: reserveAhead must be 0 beside a queue (queueLimit ${queueLimit}), but got ${reserveAhead}: who ` +
      'waits would be passed by those who find a reserve. Leave one of them out.',
  );
}

/** A limiter of another algorithm never reads the state of this one, whatever their names are. */
function nameOf(
  name: string | undefined,
  { algorithm, numbers }: Pick<Numbers, 'algorithm' | 'numbers'>,
): string {
  if (name === undefined) return `${algorithm}:${numbers.join('/')}:`;
  if (typeof name !== 'string' || name === '')
    throw typeError('ERR_RL_INVALID_OPTION', `Shared limiter: name must be a text that is not empty.`);
  return `${textPart(name)}:${algorithm}:`;
}

/** The definition under another name, for a policy that gives its own. */
export function renamed(definition: LimiterDefinition, name: string): LimiterDefinition {
  return { ...definition, name: `${textPart(name)}:${definition.algorithm}:` };
}
