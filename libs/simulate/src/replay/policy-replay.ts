import type {
  AcquiresOrWaits,
  PartitionedRateLimiter,
  RateLimitLease,
  RateLimitPartition as Partition,
} from '@ratelease/limiters';
import {
  acquireOrWait,
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  isRateLimitError,
  RateLimitPartition,
} from '@ratelease/limiters';
import { SimulatedClock } from '../clock/simulated-clock.js';
import { SimulationError } from '../errors/simulation-error.js';
import { algorithmOf } from '../policies/algorithms.js';
import type { CheckedPolicy, NamedPolicy } from '../policies/checked-policy.js';
import { PolicyResults } from '../report/policy-results.js';
import type { PolicyReport } from '../report/simulation-report.js';
import type { TraceEntry } from '../trace/trace-entry.js';
import { placeOf } from '../trace/trace-entry.js';
import { KeyCopies } from './key-copies.js';
import { microtasksDone } from './microtasks.js';
import type { ReplaySettings } from './replay-settings.js';

/** A member's key for a request, or `null` where it doesn't apply to the request. */
type MemberKey = string | null;
/** The partition of requests that a member doesn't limit; no key is like it. */
const UNLIMITED: symbol = Symbol('unlimited');

interface Request {
  readonly entry: TraceEntry;
  readonly keys: readonly MemberKey[];
  readonly key: string;
  readonly durationMs: number;
  readonly cameMs: number;
}

/** A policy, its limiters and its own time, through which the requests of a trace go. */
export class PolicyReplay {
  readonly #policy: NamedPolicy;
  readonly #settings: ReplaySettings;
  readonly #clock = new SimulatedClock();
  readonly #limiter: PartitionedRateLimiter<readonly MemberKey[]>;
  readonly #isChain: boolean;
  readonly #holdsPermits: boolean;
  readonly #results: PolicyResults;
  readonly #copies = new KeyCopies();
  readonly #wait: () => { maxWaitMs: number; signal: undefined };
  #originMs = NaN;
  #offered = 0;
  #waiting = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(policy: NamedPolicy, settings: ReplaySettings) {
    this.#policy = policy;
    this.#settings = settings;
    const members = policy.members.map((member, index) => this.#limiterOf(member, index));
    this.#isChain = members.length > 1;
    this.#limiter = this.#isChain ? createChainedPartitionedRateLimiter(...members) : members[0]!;
    this.#holdsPermits = policy.members.some(({ algorithm }) => algorithm === 'concurrency');
    this.#results = new PolicyResults(settings.stepMs);
    const wait = { maxWaitMs: settings.maxWaitMs, signal: undefined };
    this.#wait = () => wait;
  }

  /**
   * Lets a request come, not earlier than the one before.
   * @returns a promise where something has to happen before the next may come.
   */
  offer(entry: TraceEntry): Promise<void> | undefined {
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#offered++;
    const keys = this.#keysOf(entry);
    if (keys === undefined) return undefined;
    if (Number.isNaN(this.#originMs)) this.#originMs = entry.timeMs;
    const cameMs = entry.timeMs - this.#originMs;
    const request = { entry, keys, key: joined(keys), durationMs: this.#durationOf(entry), cameMs };
    const moved = this.#moveTo(cameMs);
    return moved === undefined ? this.#ask(request) : moved.then(() => this.#ask(request));
  }

  /** Lets those who still wait have their turn, and ends the limiters. */
  async finish(): Promise<PolicyReport> {
    // oxlint-disable-next-line no-await-in-loop -- what settles decides what happens next
    while (this.#waiting > 0 && this.#clock.runNext(Infinity)) await microtasksDone();
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#waiting > 0)
      throw new Error(`${this.#waiting} requests of ${this.#policy.name} wait for nothing.`);
    this.#limiter.dispose();
    return this.#results.report(this.#policy, this.#settings.topKeys);
  }

  #keysOf(entry: TraceEntry): readonly MemberKey[] | undefined {
    const keys: MemberKey[] = [];
    let applies = false;
    for (const { appliesTo, keyOf } of this.#policy.members) {
      if (!appliesTo(entry)) {
        keys.push(null);
        continue;
      }
      const key = keyOf(entry);
      if (key === undefined) {
        this.#results.withoutKey++;
        return undefined;
      }
      keys.push(this.#copies.of(key));
      applies = true;
    }
    if (applies) return keys;
    this.#results.outside++;
    return undefined;
  }

  #durationOf(entry: TraceEntry): number {
    const duration = entry.durationMs ?? this.#settings.durationMs;
    if (duration !== undefined) return duration;
    if (!this.#holdsPermits) return 0;
    throw new SimulationError(
      'ERR_RL_MISSING_DURATION',
      `Policy ${JSON.stringify(this.#policy.name)} limits how many run at once, but ${placeOf(entry, this.#offered)} doesn't say how long its ` +
        'work took. Say where the log has it, or assume one: durationMs, on the command line --duration 200ms.',
    );
  }

  /** Lets everything happen that is due on the way. */
  #moveTo(ms: number): Promise<void> | undefined {
    while (this.#clock.runNext(ms)) if (this.#waiting > 0) return this.#moveSlowlyTo(ms);
    return undefined;
  }

  /** Somebody waits: whoever is granted has to begin his work before the clock goes on. */
  async #moveSlowlyTo(ms: number): Promise<void> {
    do {
      // oxlint-disable-next-line no-await-in-loop -- what settles decides what happens next
      if (this.#waiting > 0) await microtasksDone();
    } while (this.#clock.runNext(ms));
  }

  #ask(request: Request): Promise<void> | undefined {
    try {
      const answer = this.#acquire(request);
      if (answer instanceof Promise) return this.#letWait(request, answer);
      this.#settle(request, answer);
    } catch (error) {
      this.#refuseAbove(request, error);
    }
    return undefined;
  }

  /** It may have been decided already: whoever is told so only by a promise knows it when that has settled. */
  #letWait(request: Request, answer: Promise<RateLimitLease>): Promise<void> {
    this.#waiting++;
    void this.#await(request, answer);
    return microtasksDone();
  }

  /** Never rejects: nobody awaits it. What goes wrong ends the replay at its next step. */
  async #await(request: Request, answer: Promise<RateLimitLease>): Promise<void> {
    try {
      await answer.then(
        (lease) => this.#settle(request, lease),
        (error: unknown) => this.#refuseAbove(request, error),
      );
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#waiting--;
  }

  #acquire({ keys, entry }: Request): RateLimitLease | Promise<RateLimitLease> {
    const permits = entry.permitCount ?? 1;
    if (this.#isChain) return this.#limiter.acquire(keys, permits, this.#wait());
    const limiter = this.#limiter as unknown as AcquiresOrWaits<readonly MemberKey[]>;
    return limiter[acquireOrWait](keys, permits, this.#wait);
  }

  #settle(request: Request, lease: RateLimitLease): void {
    if (lease.isAcquired && this.#holdsPermits)
      this.#clock.setTimer(() => lease.dispose(), request.durationMs);
    this.#record(request, lease.isAcquired);
  }

  /** More permits than there ever are: a refusal, as the Nest module makes it one. */
  #refuseAbove(request: Request, error: unknown): void {
    if (!isRateLimitError(error) || error.code !== 'ERR_RL_PERMIT_COUNT_ABOVE_LIMIT') throw error;
    this.#record(request, false);
  }

  #record({ entry, key, cameMs }: Request, isGranted: boolean): void {
    const waitedMs = this.#clock.now() - cameMs;
    this.#results.add(key, entry.timeMs, { isGranted, waitedMs });
    const outcome = isGranted ? 'granted' : 'refused';
    this.#settings.onOutcome?.({ policy: this.#policy.name, entry, key, outcome, waitedMs });
  }

  #limiterOf(
    { algorithm, numbers }: CheckedPolicy,
    index: number,
  ): PartitionedRateLimiter<readonly MemberKey[]> {
    const { partition } = algorithmOf(algorithm);
    const factory = (): object => numbers;
    const partitionOf = (keys: readonly MemberKey[]): Partition<string | symbol> => {
      const key = keys[index]!;
      return key === null
        ? RateLimitPartition.getNoLimiter<string | symbol>(UNLIMITED)
        : partition<string | symbol>(key, factory);
    };
    return createPartitionedRateLimiter(partitionOf, { clock: this.#clock });
  }
}

function joined(keys: readonly MemberKey[]): string {
  return keys.length === 1 ? keys[0]! : keys.filter((key) => key !== null).join(' | ');
}
