import type { MetadataName, RateLimitQuota } from '@ratelease/limiters';
import { RateLimitLease } from '@ratelease/limiters';
import type { Grant } from '../holding/grant.js';

/** A lease for code outside handlers: its end is accounted for, once. */
export class CountedLease extends RateLimitLease {
  readonly #grant: Grant;
  #isReleased = false;

  constructor(grant: Grant) {
    super();
    this.#grant = grant;
  }

  override get isAcquired(): boolean {
    return true;
  }

  override get metadataNames(): Iterable<string> {
    return this.#grant.lease.metadataNames;
  }

  override getMetadata<T>(name: MetadataName<T>): T | undefined;
  override getMetadata(name: string): unknown;
  override getMetadata(name: string | MetadataName<unknown>): unknown {
    return this.#grant.lease.getMetadata(name as string);
  }

  override quota(): readonly RateLimitQuota[] {
    return this.#grant.lease.quota();
  }

  override dispose(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#grant.release();
  }
}
