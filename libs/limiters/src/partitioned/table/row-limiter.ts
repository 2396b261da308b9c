import type { AsyncRateLimiter } from '../../async-rate-limiter.js';
import type { ChainParticipant } from '../../chained/chain-participant.js';
import { chainParticipants, participantsOf } from '../../chained/chain-participant.js';
import { REASON, RefusedLease } from '../../engine/refused-lease.js';
import { asyncOnly } from '../../errors.js';
import type { RateLimitLease } from '../../rate-limit-lease.js';
import { isRateLimiter, RateLimiter } from '../../rate-limiter.js';
import type { RateLimiterStatistics } from '../../rate-limiter-statistics.js';
import type { CellPage } from './cell-page.js';
import type { Declared } from './partition-page.js';
import type { RowCore } from './row-core.js';

/**
 * The limiter of a row, for a chain. Until the chain comes to ask it, the row may have gone, and another key may stand
 * in its place: whatever runs for the other members, or the wait for them, may have ended the table or outlived the
 * partition. So what has become of the key is looked up where the table has changed.
 */
export class RowLimiter extends RateLimiter {
  readonly page: CellPage;
  /** Where the state of the row begins in the cells of the page. */
  readonly at: number;
  private readonly declared: Declared;
  private readonly identity: unknown;
  private changes: number;
  /** Made where more is asked than a decision outright. */
  private made: RowCore | undefined = undefined;
  /** The limiter that the key has since the table has changed; `null` where there is no place for it. */
  private instead: AsyncRateLimiter | null | undefined = undefined;

  constructor(page: CellPage, at: number, declared: Declared, identity: unknown) {
    super();
    this.page = page;
    this.at = at;
    this.declared = declared;
    this.identity = identity;
    this.changes = page.table.changes;
  }

  override get idleDurationMs(): number | null {
    return this.core.idleDurationMs;
  }

  override getStatistics(): RateLimiterStatistics | null {
    const limiter = this.#current();
    if (limiter === this) return this.core.getStatistics();
    return limiter === null ? null : limiter.getStatistics();
  }

  [chainParticipants](): readonly ChainParticipant[] | null {
    const limiter = this.#current();
    if (limiter === this) return [this.core];
    return limiter === null ? null : participantsOf(limiter);
  }

  /** Whether it decides by the numbers of its row alone: that is where it was, and nobody waits in it. */
  decidesOutright(permits: number): boolean {
    if (this.instead !== undefined || this.changes !== this.page.table.changes) return false;
    return this.page.decidesOutright(this.at, permits);
  }

  /** The row stays until the returned function is called. */
  keep(): () => void {
    if (this.#current() !== this) return () => undefined;
    const { core } = this;
    core.hold();
    return () => core.unhold();
  }

  protected override assertAcquirable(permitCount: number): void {
    if (this.#current() === this) this.core.assertAcquirable(permitCount);
  }

  protected override attemptAcquireCore(permitCount: number): RateLimitLease {
    const limiter = this.#current();
    if (limiter === this) return this.core.attempt(permitCount);
    if (limiter === null) return noPlace();
    if (isRateLimiter(limiter)) return limiter.attemptAcquire(permitCount);
    throw asyncOnly(limiter);
  }

  protected override acquireCore(permitCount: number, signal?: AbortSignal): Promise<RateLimitLease> {
    return this.acquireWithin(permitCount, Infinity, signal);
  }

  protected override acquireWithin(
    permitCount: number,
    maxWaitMs: number,
    signal?: AbortSignal,
  ): Promise<RateLimitLease> {
    const limiter = this.#current();
    if (limiter === this) return this.core.acquire(permitCount, signal, maxWaitMs);
    if (limiter === null) return Promise.resolve(noPlace());
    return limiter.acquire(permitCount, { signal, maxWaitMs });
  }

  /** Requests of others may have begun to wait in the row. */
  private get core(): RowCore {
    return this.page.residentAt(this.at) ?? (this.made ??= this.page.newCore(this.at, this.declared));
  }

  /** @throws ObjectDisposedError - when the partitioned limiter has ended. */
  #current(): AsyncRateLimiter | null {
    const { table } = this.page;
    if (this.changes !== table.changes) {
      this.instead = table.limiterFor(this.declared, this.identity);
      this.changes = table.changes;
    }
    return this.instead === undefined ? this : this.instead;
  }
}

/** The refusal of a table to have one more partition. */
export function noPlace(): RateLimitLease {
  return new RefusedLease(REASON.partitionLimitReached);
}
