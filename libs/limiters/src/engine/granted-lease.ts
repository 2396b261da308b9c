import type { Instant } from '../chained/instant.js';
import type { RateLimitQuota } from '../rate-limit-lease.js';
import { RateLimitLease } from '../rate-limit-lease.js';
import type { PermitAlgorithm } from './algorithm.js';
import { areLostLeasesWatched, unwatchLease, watchLease } from './lost-leases.js';
import { toMilliseconds } from './time-unit.js';

const NO_NAMES: readonly string[] = Object.freeze([]);

/** What a lease tells of the limiter behind it, as of the decision. */
export function quotaEntry(
  algorithm: PermitAlgorithm,
  remaining: number,
  untilFull: number,
  // oxlint-disable-next-line max-params -- an object for them would be made for each request
  member: number = 0,
): RateLimitQuota {
  return {
    limit: algorithm.limit,
    remaining: Math.max(0, remaining),
    resetAfterMs: Number.isNaN(untilFull) ? undefined : toMilliseconds(untilFull),
    windowMs: algorithm.windowMs,
    member,
  };
}

/**
 * The same number. Those that come out of cells are floating-point numbers to V8, and each takes an object of its own
 * in the field of a lease; as a small integer it stands in the field itself.
 */
export function unboxed(count: number): number {
  const small = count | 0;
  return small === count ? small : count;
}

/** What granted leases say that have nothing to tell. */
export abstract class AcquiredLease extends RateLimitLease {
  override get isAcquired(): boolean {
    return true;
  }

  override get metadataNames(): Iterable<string> {
    return NO_NAMES;
  }

  override getMetadata(): undefined {
    return undefined;
  }
}

/** A granted lease of a rate: what it took comes back with time, whatever happens to the lease. */
export class GrantedLease extends AcquiredLease {
  private readonly algorithm: PermitAlgorithm;
  private readonly remaining: number;
  private readonly untilFull: number;

  constructor(algorithm: PermitAlgorithm, remaining: number, untilFull: number) {
    super();
    this.algorithm = algorithm;
    this.remaining = unboxed(remaining);
    this.untilFull = untilFull;
  }

  override quota(): readonly RateLimitQuota[] {
    return [this.quotaOf(0)];
  }

  /** What it tells as the lease of a chain's member. */
  quotaOf(member: number): RateLimitQuota {
    return quotaEntry(this.algorithm, this.remaining, this.untilFull, member);
  }
}

/** Takes permits back when a lease ends. */
export interface PermitKeeper {
  /** The limiter's class, for reports. */
  readonly name: string;
  readonly algorithm: PermitAlgorithm;
  /** Counts resets: permits of an earlier epoch are no longer owed. */
  readonly epoch: number;
  /** @param instant - the moment to go by, where several leases end in one. */
  release(permits: number, epoch: number, instant?: Instant): void;
}

/** A granted lease whose permits come back when it is disposed. */
export class HeldLease extends AcquiredLease {
  private readonly algorithm: PermitAlgorithm;
  private readonly remaining: number;
  private keeper: PermitKeeper | null;
  private readonly permits: number;
  private readonly epoch: number;

  constructor(keeper: PermitKeeper, permits: number, remaining: number) {
    super();
    this.algorithm = keeper.algorithm;
    this.remaining = unboxed(remaining);
    this.keeper = keeper;
    this.permits = permits;
    this.epoch = keeper.epoch;
    if (permits > 0 && areLostLeasesWatched()) watchLease(this, keeper, permits);
  }

  override quota(): readonly RateLimitQuota[] {
    return [quotaEntry(this.algorithm, this.remaining, NaN)];
  }

  override dispose(): void {
    this.disposeIn(undefined);
  }

  /** The same together with others, in one moment. */
  disposeIn(instant: Instant | undefined): void {
    const keeper = this.keeper;
    if (keeper === null) return;
    this.keeper = null;
    unwatchLease(this);
    keeper.release(this.permits, this.epoch, instant);
  }
}
