import { MetadataName } from '../metadata-name.js';
import type { RateLimitQuota } from '../rate-limit-lease.js';
import { metadataKey, RateLimitLease } from '../rate-limit-lease.js';
import type { PermitAlgorithm } from './algorithm.js';
import { quotaEntry } from './granted-lease.js';

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
  private algorithm: PermitAlgorithm | null = null;
  private remaining = 0;
  private untilFull = 0;

  constructor(reason: string | undefined, retryAfterMs?: number) {
    super();
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }

  /** Adds what the limiter looked like at the decision. */
  withQuota(algorithm: PermitAlgorithm, remaining: number, untilFull: number): this {
    this.algorithm = algorithm;
    this.remaining = remaining;
    this.untilFull = untilFull;
    return this;
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

  override quota(): readonly RateLimitQuota[] {
    return this.algorithm === null
      ? super.quota()
      : [quotaEntry(this.algorithm, this.remaining, this.untilFull)];
  }
}
