import type {
  AcquireOptions,
  AsyncRateLimiter,
  EndableWait,
  JointDecider,
  JointOutcome,
  JointWait,
  RateLimiterStatistics,
  RateLimitLease,
} from '@ratelease/limiters';
import { foreseeableIdle, jointDecision, ObjectDisposedError } from '@ratelease/limiters';
import { requireMaxWait, requirePermits } from '../checks.js';
import { aboveLimit } from '../errors.js';
import { LimiterGroup } from '../store/limiter-group.js';
import type { AcquisitionContext } from './acquisition-context.js';
import { Acquisition } from './acquisition.js';
import type { LimiterDefinition } from './limiter-definition.js';
import { isSameLimiter } from './limiter-definition.js';
import type { Outcome } from './outcome.js';
import type { Settle } from './plain-decision.js';
import { PlainDecision } from './plain-decision.js';
import type { Together } from './together.js';
import { togetherOf } from './together.js';
import { Wait } from './wait.js';

const NAME = 'Shared limiter';
const NO_OPTIONS: AcquireOptions = {};

/**
 * A limiter whose permits are counted by a server, for all processes that ask it. It can't answer at once, so it is
 * no `RateLimiter`; partitions, chains of partitioned limiters and policies take it.
 */
export class RemoteRateLimiter implements AsyncRateLimiter {
  /** Between its calls it only gets idler. */
  readonly [foreseeableIdle] = true;
  /** The key of the partition that it limits. */
  readonly partitionKey: string;
  readonly #context: AcquisitionContext;
  #definition: LimiterDefinition;
  #alone: Together;
  #decider: JointDecider | undefined = undefined;
  #lastTogether: Together | undefined = undefined;
  readonly #waits = new Set<EndableWait>();
  #remaining: number;
  #queued = 0;
  #pending = 0;
  #granted = 0;
  #refused = 0;
  #lastUsedMs: number;
  #isDisposed = false;

  /** @internal */
  constructor(context: AcquisitionContext, partitionKey: string, definition: LimiterDefinition) {
    this.#context = context;
    this.partitionKey = partitionKey;
    this.#definition = definition;
    this.#alone = togetherOf([this], new LimiterGroup(partitionKey, [definition]));
    this.#remaining = definition.limit;
    this.#lastUsedMs = definition.clock.now();
  }

  /** @internal What it is, as its owner gave it last. */
  get definition(): LimiterDefinition {
    return this.#definition;
  }

  /**
   * @internal Goes on as what its owner says now. Who waits asks with the new numbers at his next turn, which comes at
   * once; what is held stays held.
   */
  redefine(definition: LimiterDefinition): void {
    const before = this.#definition;
    if (isSameLimiter(before, definition)) return;
    this.#giveBackReserves();
    this.#definition = definition;
    this.#alone = togetherOf([this], new LimiterGroup(this.partitionKey, [definition]));
    this.#decider = undefined;
    this.#remaining = Math.max(
      0,
      Math.min(definition.limit, this.#remaining + definition.limit - before.limit),
    );
    this.#context.states.redefined(this.partitionKey, before, definition);
  }

  /** See {@link AsyncRateLimiter.acquire}. */
  acquire(permitCount: number = 1, options: AcquireOptions = NO_OPTIONS): Promise<RateLimitLease> {
    return new Promise((resolve, reject) => {
      const permits = requirePermits(permitCount);
      this.assertAcquirable(permits);
      options.signal?.throwIfAborted();
      requireMaxWait(options.maxWaitMs);
      // It takes the lease and leaves the rest.
      this.#begin(this.#alone, permits, options, resolve, reject);
    });
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
    if (this.#pending > 0) return null;
    return Math.max(0, this.definition.clock.now() - this.#lastUsedMs);
  }

  /**
   * Ends the limiter's waits in this process and gives back what it has reserved; its leases stay valid, and its
   * state is the server's.
   */
  dispose(): void {
    this.#isDisposed = true;
    for (const wait of this.#waits) wait.dispose();
    this.#giveBackReserves();
  }

  /** The same as `dispose`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
  }

  /** What chains ask several of these limiters by; see {@link jointDecision}. */
  get [jointDecision](): JointDecider {
    this.#decider ??= {
      // Those of one store and one partition are asked by one script.
      domain: this.#context.states.store.process + this.partitionKey,
      identity: this.definition.name,
      // A rate comes back by itself.
      keepingOrder: this.definition.algorithm === 'concurrency' ? this.partitionKey : undefined,
      clock: this.definition.clock,
      acquire: (limiters, permits, wait, waiting) =>
        this.#acquireJointly(limiters as RemoteRateLimiter[], permits, wait, waiting),
      noteTakenBack: (limiters) => {
        for (const limiter of limiters as RemoteRateLimiter[]) limiter.#granted--;
      },
    };
    return this.#decider;
  }

  /** @throws RangeError | ObjectDisposedError - for a count above the limit; after disposal. */
  protected assertAcquirable(permits: number, member = 0): void {
    const { limit } = this.definition;
    if (permits > limit) throw aboveLimit(permits, limit, member);
    if (this.#isDisposed || this.#context.states.isEnded) throw new ObjectDisposedError(NAME);
  }

  #acquireJointly(
    limiters: readonly RemoteRateLimiter[],
    permits: number,
    options: JointWait,
    waiting?: Set<EndableWait>,
  ): Promise<JointOutcome> {
    return new Promise((resolve, reject) => {
      limiters.forEach((limiter, member) => limiter.assertAcquirable(permits, member));
      options.signal?.throwIfAborted();
      const settle: Settle = (lease, refusedBy, retryAfterOfAllMs) =>
        resolve({ lease, refusedBy, retryAfterOfAllMs });
      this.#begin(this.#together(limiters), permits, options, settle, reject, waiting);
    });
  }

  #giveBackReserves(): void {
    for (const together of [this.#alone, this.#lastTogether])
      if (together !== undefined) void this.#context.states.reserveInUse(together.group)?.giveBack();
  }

  /** The last ones that were asked with this one: mostly they are the same each time. */
  #together(limiters: readonly RemoteRateLimiter[]): Together {
    if (limiters.length === 1) return this.#alone;
    const known = this.#lastTogether;
    const isKnown = known?.limiters.length === limiters.length && isOf(known.group, limiters);
    if (isKnown && known.limiters.every((one, index) => one === limiters[index])) return known;
    const definitions = limiters.map(({ definition }) => definition);
    this.#lastTogether = togetherOf([...limiters], new LimiterGroup(this.partitionKey, definitions));
    return this.#lastTogether;
  }

  // oxlint-disable-next-line max-params -- who asks, for what, and how he is answered
  #begin(
    together: Together,
    permits: number,
    options: Partial<JointWait>,
    settle: Settle,
    reject: (reason: unknown) => void,
    waiting?: Set<EndableWait>,
  ): void {
    const { limiters, isPlain } = together;
    for (const limiter of limiters) limiter.#began(permits);
    if (isPlain) new PlainDecision(this.#context, together, permits, options.signal, settle, reject).ask();
    else this.#run(together, permits, options, waiting).then((outcome) => tell(outcome, settle), reject);
  }

  async #run(
    { limiters, group: asked }: Together,
    permits: number,
    options: Partial<JointWait>,
    waiting: Set<EndableWait> | undefined,
  ): Promise<Outcome> {
    const owners: Set<EndableWait>[] = limiters.map((limiter) => limiter.#waits);
    if (waiting !== undefined) owners.push(waiting);
    let group = asked;
    const current = (): LimiterGroup => {
      if (!isOf(group, limiters)) group = this.#together(limiters).group;
      return group;
    };
    const wait = new Wait(this.definition.clock, owners, options);
    try {
      const outcome = await new Acquisition(this.#context, current, permits, wait).run();
      const { lease, refusedBy, isFlushed = false } = outcome;
      if (isFlushed) return outcome;
      limiters.forEach((limiter, index) => limiter.count(refusedBy, index, lease.quota()[index]?.remaining));
      return outcome;
    } finally {
      for (const limiter of limiters) limiter.ended(permits);
    }
  }

  #began(permits: number): void {
    this.#queued += permits;
    this.#pending++;
  }

  /** @internal A request has ended. */
  ended(permits: number): void {
    this.#queued -= permits;
    this.#pending--;
    this.#lastUsedMs = this.definition.clock.now();
  }

  /** @internal Counts what came out: which limiter refused (-1: none), and what is left of this one. */
  count(refusedBy: number, index: number, remaining: number | undefined): void {
    if (refusedBy < 0) this.#granted++;
    else if (refusedBy === index) this.#refused++;
    if (remaining !== undefined) this.#remaining = remaining;
  }
}

function tell({ lease, refusedBy, retryAfterOfAllMs }: Outcome, settle: Settle): void {
  settle(lease, refusedBy, retryAfterOfAllMs);
}

/** Whether a group has the numbers that its limiters have now. */
function isOf({ definitions }: LimiterGroup, limiters: readonly RemoteRateLimiter[]): boolean {
  return limiters.every(({ definition }, index) => definition === definitions[index]);
}
