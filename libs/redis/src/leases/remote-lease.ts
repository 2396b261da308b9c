import type { RateLimitQuota } from '@ratelease/limiters';
import { isLeaseLost, RateLimitLease, undoLease } from '@ratelease/limiters';
import type { LeaseKeeper } from '../concurrency/lease-keeper.js';
import type { Standing } from '../store/standing.js';
import type { LimiterGroup } from '../store/limiter-group.js';
import { settledWithin } from '../store/settled-within.js';
import type { Store } from '../store/store.js';
import { quotaOf } from './quota.js';

const NOTHING = Promise.resolve();
const NO_NAMES: readonly string[] = Object.freeze([]);

/** The permits of a concurrency limiter behind a lease. */
export interface HeldPermits {
  readonly keeper: LeaseKeeper;
  readonly member: string;
}

/** What a granted lease knows. */
export interface GrantFacts {
  readonly group: LimiterGroup;
  readonly standing: Standing;
  /** When it was granted, by the server. */
  readonly nowUs: number;
  readonly permits: number;
  readonly store: Store;
  readonly held: readonly HeldPermits[];
}

/**
 * A lease that a shared limiter granted. Of a rate it holds nothing; of a concurrency limiter it holds permits that
 * this process renews, until it is disposed.
 */
export class RemoteLease extends RateLimitLease implements AsyncDisposable {
  readonly #facts: GrantFacts;
  #released: Promise<void> | undefined = undefined;
  #abort: AbortController | undefined = undefined;
  #lostReason: Error | undefined = undefined;

  /** @internal */
  constructor(facts: GrantFacts) {
    super();
    this.#facts = facts;
    for (const { keeper, member } of facts.held) keeper.onLost(member, (reason) => this.#lose(reason));
  }

  override get isAcquired(): boolean {
    return true;
  }

  override get metadataNames(): Iterable<string> {
    return NO_NAMES;
  }

  override getMetadata(): undefined {
    return undefined;
  }

  override quota(): readonly RateLimitQuota[] {
    return quotaOf(this.#facts.group, this.#facts.standing);
  }

  /**
   * Aborts when the permits are no longer this lease's, because they could not be renewed in time: others may work
   * now. Its reason is an `Error` that says so. It does not abort when the lease is disposed.
   */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#lostReason !== undefined) this.#abort.abort(this.#lostReason);
    }
    return this.#abort.signal;
  }

  /** Whether the permits are no longer this lease's; see {@link RemoteLease.signal}. */
  get [isLeaseLost](): boolean {
    return this.#lostReason !== undefined;
  }

  /** Gives the permits back in the background, and tries again while the lease would last if that fails. */
  override dispose(): void {
    void this.#release();
  }

  /**
   * Gives the permits back and waits for it; where the store can't be reached, for the first attempt, and never longer
   * than `commandTimeoutMs`. Never rejects.
   */
  [Symbol.asyncDispose](): Promise<void> {
    return settledWithin(this.#release(), this.#facts.group.timeoutMs);
  }

  /** Takes the lease back as if it had never been granted. */
  [undoLease](): void {
    if (this.#released !== undefined) return;
    const { store, group, permits, standing, nowUs } = this.#facts;
    if (permits > 0) void store.giveBack(group, permits, { kind: 'granted', standing, nowUs });
    void this.#release();
  }

  #release(): Promise<void> {
    const { held } = this.#facts;
    this.#released ??= held.length === 0 ? NOTHING : releaseAll(held);
    return this.#released;
  }

  #lose(reason: Error): void {
    this.#lostReason = reason;
    this.#abort?.abort(reason);
  }
}

async function releaseAll(held: readonly HeldPermits[]): Promise<void> {
  await Promise.all(held.map(({ keeper, member }) => keeper.release(member)));
}
