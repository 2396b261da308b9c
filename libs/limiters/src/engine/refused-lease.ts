import { MetadataName } from '../metadata-name.js';
import type { RateLimitQuota } from '../rate-limit-lease.js';
import { metadataKey, RateLimitLease } from '../rate-limit-lease.js';
import type { PermitAlgorithm } from './algorithm.js';
import { quotaEntry, unboxed } from './granted-lease.js';
import { toRetryAfterMs } from './time-unit.js';

/** The reason phrases of refused leases. */
export const REASON = {
  permitLimitReached: 'Permit limit reached',
  queueLimitReached: 'Queue limit reached',
  evicted: 'Evicted by a newer request',
  limiterDisposed: 'Limiter disposed',
  waitLimitReached: 'Wait limit reached',
  limitLowered: 'Limit lowered',
  partitionLimitReached: 'Partition limit reached',
  ownerDisposed: 'Owner disposed',
} as const;

const RETRY_AFTER = MetadataName.retryAfter.name;
const REASON_PHRASE = MetadataName.reasonPhrase.name;

/** A lease that holds nothing and says why, or when to come back. */
abstract class AnyRefusedLease extends RateLimitLease {
  protected abstract readonly reason: string | undefined;
  protected abstract readonly retryAfterMs: number | undefined;

  override get isAcquired(): boolean {
    return false;
  }

  override get metadataNames(): Iterable<string> {
    const names: string[] = [];
    if (this.retryAfterMs !== undefined) names.push(RETRY_AFTER);
    if (this.reason !== undefined) names.push(REASON_PHRASE);
    return names;
  }

  override getMetadata<T>(name: MetadataName<T>): T | undefined;
  override getMetadata(name: string): unknown;
  override getMetadata(name: string | MetadataName<unknown>): unknown {
    const key = metadataKey(name);
    if (key === RETRY_AFTER) return this.retryAfterMs;
    if (key === REASON_PHRASE) return this.reason;
    return undefined;
  }
}

/** A refusal that isn't by the numbers of a limiter. */
export class RefusedLease extends AnyRefusedLease {
  protected readonly reason: string | undefined;
  protected readonly retryAfterMs: number | undefined;

  private readonly standing: RateLimitQuota | undefined;

  /** @param standing - how the limiter stood, where one decided. */
  constructor(reason: string | undefined, retryAfterMs?: number, standing?: RateLimitQuota) {
    super();
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
    this.standing = standing;
  }

  override quota(): readonly RateLimitQuota[] {
    return this.standing === undefined ? super.quota() : [this.standing];
  }
}

/**
 * A refusal by the numbers of a limiter, and what the limiter looked like. What few ask for is worked out when they do:
 * where much is refused, most refusals are asked for nothing.
 */
export class DecidedRefusal extends AnyRefusedLease {
  protected readonly reason: string | undefined;
  private readonly algorithm: PermitAlgorithm;
  private readonly remaining: number;
  private readonly untilFull: number;
  private readonly dueIn: number;

  /** @param dueIn - in how many nanoseconds it is worth another try; `NaN` where unknown. */
  // oxlint-disable-next-line max-params -- what the fields are, without an object made for each refusal to carry them
  constructor(
    reason: string | undefined,
    algorithm: PermitAlgorithm,
    remaining: number,
    untilFull: number,
    dueIn: number,
  ) {
    super();
    this.reason = reason;
    this.algorithm = algorithm;
    this.remaining = unboxed(remaining);
    this.untilFull = untilFull;
    this.dueIn = dueIn;
  }

  protected get retryAfterMs(): number | undefined {
    return Number.isNaN(this.dueIn) ? undefined : toRetryAfterMs(this.dueIn);
  }

  override quota(): readonly RateLimitQuota[] {
    return [quotaEntry(this.algorithm, this.remaining, this.untilFull)];
  }
}
