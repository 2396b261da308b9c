import type {
  AcquireOptions,
  AsyncRateLimiter,
  JointDecider,
  JointOutcome,
  RateLimiterStatistics,
  RateLimitLease,
  WaitLimits,
} from '@ratelease/limiters';
import { foreseeableIdle, jointDecision, ObjectDisposedError } from '@ratelease/limiters';
import { requireMaxWait, requirePermits } from '../checks.js';
import { rangeError } from '../errors.js';
import { LimiterGroup } from '../store/limiter-group.js';
import type { AcquisitionContext, Outcome } from './acquisition.js';
import { Acquisition } from './acquisition.js';
import type { LimiterDefinition } from './limiter-definition.js';
import { Wait } from './wait.js';

const NAME = 'Shared limiter';

/**
 * A limiter whose permits are counted by a server, for all processes that ask it. It can't answer at once, so it is
 * no `RateLimiter`; partitions, chains of partitioned limiters and policies take it.
 */
export class RemoteRateLimiter implements AsyncRateLimiter {
  /** Between its calls it only gets idler. */
  readonly [foreseeableIdle] = true;
  /** @internal What it is, as its owner gave it. */
  readonly definition: LimiterDefinition;
  /** The key of the partition that it limits. */
  readonly partitionKey: string;
  readonly #context: AcquisitionContext;
  readonly #group: LimiterGroup;
  readonly #waits = new Set<Wait>();
  #remaining: number;
  #queued = 0;
  #granted = 0;
  #refused = 0;
  #lastUsedMs: number;
  #isDisposed = false;

  /** @internal */
  constructor(context: AcquisitionContext, partitionKey: string, definition: LimiterDefinition) {
    this.#context = context;
    this.partitionKey = partitionKey;
    this.definition = definition;
    this.#group = new LimiterGroup(partitionKey, [definition]);
    this.#remaining = definition.limit;
    this.#lastUsedMs = definition.clock.now();
  }

  /** See {@link AsyncRateLimiter.acquire}. */
  async acquire(permitCount: number = 1, options: AcquireOptions = {}): Promise<RateLimitLease> {
    const permits = requirePermits(permitCount);
    this.assertAcquirable(permits);
    options.signal?.throwIfAborted();
    requireMaxWait(options.maxWaitMs);
    const { lease } = await this.#run([this], this.#group, permits, options);
    return lease;
  }

  /**
   * What this process knows: the permits that were free at its last decision, and its own waits, grants and
   * refusals. Other processes may have changed the first since.
   */
  getStatistics(): RateLimiterStatistics {
    return {
      currentAvailablePermits: this.#remaining,
      currentQueuedCount: this.#queued,
      totalFailedLeases: this.#refused,
      totalSuccessfulLeases: this.#granted,
    };
  }

  /** Milliseconds since this process asked last: the state is the server's, nothing is lost with this object. */
  get idleDurationMs(): number | null {
    if (this.#waits.size > 0) return null;
    return Math.max(0, this.definition.clock.now() - this.#lastUsedMs);
  }

  /** Ends the limiter's waits in this process; its leases stay valid, and its state is the server's. */
  dispose(): void {
    this.#isDisposed = true;
    for (const wait of this.#waits) wait.dispose();
  }

  /** The same as `dispose`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
  }

  /** What chains ask several of these limiters by; see {@link jointDecision}. */
  get [jointDecision](): JointDecider {
    return {
      // Those of one store and one partition are asked by one script.
      domain: this.#context.states.store.process + this.partitionKey,
      identity: this.definition.name,
      acquire: (limiters, permits, wait) =>
        this.#acquireJointly(limiters as RemoteRateLimiter[], permits, wait),
    };
  }

  /** @throws RangeError | ObjectDisposedError - for a count above the limit; after disposal. */
  protected assertAcquirable(permits: number): void {
    const { limit } = this.definition;
    if (permits > limit) {
      throw rangeError(
        'ERR_RL_PERMIT_COUNT_ABOVE_LIMIT',
        `permitCount must be at most the limit of ${limit}, but got ${permits}: this limiter could never grant it.`,
      );
    }
    if (this.#isDisposed || this.#context.states.isEnded) throw new ObjectDisposedError(NAME);
  }

  async #acquireJointly(
    limiters: readonly RemoteRateLimiter[],
    permits: number,
    { signal, maxWaitMs }: WaitLimits,
  ): Promise<JointOutcome> {
    for (const limiter of limiters) limiter.assertAcquirable(permits);
    signal?.throwIfAborted();
    if (limiters.length === 1) return this.#run(limiters, this.#group, permits, { signal, maxWaitMs });
    const definitions = limiters.map(({ definition }) => definition);
    const group = new LimiterGroup(this.partitionKey, definitions);
    return this.#run(limiters, group, permits, { signal, maxWaitMs });
  }

  async #run(
    limiters: readonly RemoteRateLimiter[],
    group: LimiterGroup,
    permits: number,
    // oxlint-disable-next-line max-params -- limiters and their group go together
    options: AcquireOptions,
  ): Promise<Outcome> {
    const wait = new Wait(this.definition.clock, this.#waits, options);
    for (const limiter of limiters) limiter.#queued += permits;
    try {
      const outcome = await new Acquisition(this.#context, group, permits, wait).run();
      limiters.forEach((limiter, index) => limiter.#count(outcome, index));
      return outcome;
    } finally {
      const nowMs = this.definition.clock.now();
      for (const limiter of limiters) {
        limiter.#queued -= permits;
        limiter.#lastUsedMs = nowMs;
      }
    }
  }

  #count({ lease, refusedBy }: Outcome, index: number): void {
    if (lease.isAcquired) this.#granted++;
    else if (refusedBy === index) this.#refused++;
    const quota = lease.quota()[index];
    if (quota !== undefined) this.#remaining = quota.remaining;
  }
}
