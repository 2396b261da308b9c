import { RateLimitLease } from '@ratelease/limiters';

/** A lease that was granted without asking: it holds nothing. */
export class AllowedLease extends RateLimitLease {
  override get isAcquired(): boolean {
    return true;
  }

  override get metadataNames(): Iterable<string> {
    return [];
  }

  override getMetadata(): undefined {
    return undefined;
  }
}
