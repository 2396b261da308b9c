import type { RateLimitQuota } from '@ratelease/limiters';
import { MetadataName, RateLimitLease } from '@ratelease/limiters';
import type { Standing } from '../store/standing.js';
import type { LimiterGroup } from '../store/limiter-group.js';
import { quotaOf } from './quota.js';

/** What a refused lease tells. */
export interface RefusalFacts {
  readonly reason?: string | undefined;
  /** Whole milliseconds, at least 1. */
  readonly retryAfterMs?: number | undefined;
  readonly group?: LimiterGroup;
  readonly standing?: Standing;
}

/** A lease that holds nothing and says why, or when to come back. */
export class RemoteRefusedLease extends RateLimitLease {
  readonly #facts: RefusalFacts;

  constructor(facts: RefusalFacts) {
    super();
    this.#facts = facts;
  }

  override get isAcquired(): boolean {
    return false;
  }

  override get metadataNames(): Iterable<string> {
    const names: string[] = [];
    if (this.#facts.retryAfterMs !== undefined) names.push(MetadataName.retryAfter.name);
    if (this.#facts.reason !== undefined) names.push(MetadataName.reasonPhrase.name);
    return names;
  }

  override getMetadata<T>(name: MetadataName<T>): T | undefined;
  override getMetadata(name: string): unknown;
  override getMetadata(name: string | MetadataName<unknown>): unknown {
    const key = typeof name === 'string' ? name : name.name;
    if (key === MetadataName.retryAfter.name) return this.#facts.retryAfterMs;
    if (key === MetadataName.reasonPhrase.name) return this.#facts.reason;
    return undefined;
  }

  override quota(): readonly RateLimitQuota[] {
    const { group, standing } = this.#facts;
    return group === undefined || standing === undefined ? [] : quotaOf(group, standing);
  }
}

/** A wait in µs as metadata: whole milliseconds, at least 1; `undefined` where it is unknown. */
export function retryAfterMsOf(waitUs: number): number | undefined {
  return waitUs < 0 ? undefined : Math.max(1, Math.ceil(waitUs / 1_000));
}
