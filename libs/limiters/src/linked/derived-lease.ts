import type { MetadataName } from '../metadata-name.js';
import type { RateLimitQuota } from '../rate-limit-lease.js';
import { metadataKey, RateLimitLease } from '../rate-limit-lease.js';
import type { LeaseReleaser } from './shareable-lease-owner.js';

const NO_METADATA: ReadonlyMap<string, unknown> = new Map();

/**
 * The share of one request in the lease of a long-lived object. It holds nothing itself: its end is told to the
 * owner, once, and the end of the owner ends it without a word. So a share that is kept beyond the owner can't
 * give back what belongs to somebody else by then.
 */
export class DerivedLease extends RateLimitLease {
  /** What the request asked for, whatever the owner holds. */
  readonly permitCount: number;
  private readonly reference: RateLimitLease;
  private readonly acquired: boolean;
  private readonly metadata: ReadonlyMap<string, unknown>;
  private owner: LeaseReleaser | null = null;
  private unsubscribe: (() => void) | null = null;

  /**
   * @param owner - who is told of the end.
   * @param reference - what it is derived from: `isAcquired` and the metadata are copied.
   */
  constructor(owner: LeaseReleaser, reference: RateLimitLease, permitCount: number) {
    super();
    this.permitCount = permitCount;
    this.reference = reference;
    this.acquired = reference.isAcquired;
    this.metadata = copyMetadata(reference);
    // A refusal has nothing to end, and nobody disposes it.
    if (!this.acquired) return;
    this.owner = owner;
    this.unsubscribe = owner.onDisposed(() => this.end());
  }

  override get isAcquired(): boolean {
    return this.acquired;
  }

  override get metadataNames(): Iterable<string> {
    return this.metadata.keys();
  }

  override getMetadata<T>(name: MetadataName<T>): T | undefined;
  override getMetadata(name: string): unknown;
  override getMetadata(name: string | MetadataName<unknown>): unknown {
    return this.metadata.get(metadataKey(name));
  }

  /** As of the decision on the reference lease: later requests of the object have asked nobody. */
  override quota(): readonly RateLimitQuota[] {
    return this.reference.quota();
  }

  override dispose(): void {
    const { owner, unsubscribe } = this;
    this.end();
    unsubscribe?.();
    owner?.release(this);
  }

  private end(): void {
    this.owner = null;
    this.unsubscribe = null;
  }
}

function copyMetadata(lease: RateLimitLease): ReadonlyMap<string, unknown> {
  let copy: Map<string, unknown> | null = null;
  for (const name of lease.metadataNames) {
    copy ??= new Map();
    copy.set(name, lease.getMetadata(name));
  }
  return copy ?? NO_METADATA;
}
