import type { RateLimitQuota } from '@ratelease/limiters';
import { MetadataName, RateLimitLease } from '@ratelease/limiters';

const REASON = 'Permit limit reached';

/** The refused lease of a request that asked for more permits than a limit has: no waiting would help. */
export class AboveLimitLease extends RateLimitLease {
  /** Which of the policies has the limit. */
  readonly member: number;
  readonly #quota: readonly RateLimitQuota[];

  constructor(member: number = 0, quota: readonly RateLimitQuota[] = []) {
    super();
    this.member = member;
    this.#quota = quota;
  }

  override quota(): readonly RateLimitQuota[] {
    return this.#quota;
  }

  override get isAcquired(): boolean {
    return false;
  }

  override get metadataNames(): Iterable<string> {
    return [MetadataName.reasonPhrase.name];
  }

  override getMetadata<T>(name: MetadataName<T>): T | undefined;
  override getMetadata(name: string): unknown;
  override getMetadata(name: string | MetadataName<unknown>): unknown {
    return String(name) === MetadataName.reasonPhrase.name ? REASON : undefined;
  }
}
