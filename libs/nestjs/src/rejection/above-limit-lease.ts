import { MetadataName, RateLimitLease } from '@ratelease/limiters';

const REASON = 'Permit limit reached';

/** The refused lease of a request that asked for more permits than a limit has: no waiting would help. */
export class AboveLimitLease extends RateLimitLease {
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
