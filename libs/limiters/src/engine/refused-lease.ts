import { MetadataName } from '../metadata-name.js';
import type { RateLimitQuota } from '../rate-limit-lease.js';
import { metadataKey, RateLimitLease } from '../rate-limit-lease.js';
import type { PermitAlgorithm } from './algorithm.js';
import { quotaEntry, unboxed } from './granted-lease.js';

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

/** A lease that holds nothing and says why, or when to come back. */
export class RefusedLease extends RateLimitLease {
  private readonly reason: string | undefined;
  private readonly retryAfterMs: number | undefined;

  constructor(reason: string | undefined, retryAfterMs?: number) {
    super();
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }

  override get isAcquired(): boolean {
    return false;
  }

  override get metadataNames(): Iterable<string> {
    const names: string[] = [];
    if (this.retryAfterMs !== undefined) names.push(MetadataName.retryAfter.name);
    if (this.reason !== undefined) names.push(MetadataName.reasonPhrase.name);
    return names;
  }

  override getMetadata<T>(name: MetadataName<T>): T | undefined;
  override getMetadata(name: string): unknown;
  override getMetadata(name: string | MetadataName<unknown>): unknown {
    const key = metadataKey(name);
    if (key === MetadataName.retryAfter.name) return this.retryAfterMs;
    if (key === MetadataName.reasonPhrase.name) return this.reason;
    return undefined;
  }
}

/** What a limiter looked like at a refusal. */
export interface Standing {
  readonly algorithm: PermitAlgorithm;
  readonly remaining: number;
  /** Nanoseconds. */
  readonly untilFull: number;
}

/** A refusal by the numbers of a limiter. */
export class DecidedRefusal extends RefusedLease {
  private readonly algorithm: PermitAlgorithm;
  private readonly remaining: number;
  private readonly untilFull: number;

  constructor(reason: string | undefined, retryAfterMs: number | undefined, standing: Standing) {
    super(reason, retryAfterMs);
    this.algorithm = standing.algorithm;
    this.remaining = unboxed(standing.remaining);
    this.untilFull = standing.untilFull;
  }

  override quota(): readonly RateLimitQuota[] {
    return [quotaEntry(this.algorithm, this.remaining, this.untilFull)];
  }
}
