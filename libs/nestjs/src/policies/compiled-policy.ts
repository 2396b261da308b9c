import type { AsyncPartitionedRateLimiter, Clock } from '@ratelease/limiters';
import { createPartitionedRateLimiter, partitionOf, RateLimitPartition } from '@ratelease/limiters';
import type { AnyPartition, HandlingContext } from '../context/handling-context.js';
import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import { PolicyItem } from '../http/policy-item.js';
import { structuredString } from '../http/structured-string.js';
import { MissingKeyError } from '../errors/missing-key-error.js';
import { isLettable } from '../errors/is-lettable.js';
import { shown } from '../errors/shown.js';
import { isPromise } from './is-promise.js';
import type { OnRejected } from '../rejection/on-rejected.js';
import { resetLimiter, resetPartition } from './limiter-reset.js';
import { PolicyCounters } from './policy-counters.js';
import { IN_PROCESS, storeOf } from './partition-store.js';
import type { PartitionTraits } from './policy-traits.js';
import type { Partitioner } from './rate-limiter-policy.js';

/** How a policy decides: by choosing partitions of a limiter that we make, or with a limiter of the user's. */
export type PolicySource = { readonly partitioner: Partitioner } | { readonly limiter: ContextLimiter };

/** A limiter that is asked with the context of a request. */
export type ContextLimiter = AsyncPartitionedRateLimiter<RateLimitingContext>;

/** What is known of a policy when it is compiled. */
export interface CompiledPolicyInit {
  readonly index: number;
  readonly name: string;
  readonly onRejected: OnRejected | undefined;
  readonly traits: PartitionTraits;
  /** Takes new numbers; `undefined` where the numbers aren't the module's. */
  readonly change: ((changes: object) => void) | undefined;
  /** Whether a request may wait in its queue; `true` where unknown. */
  readonly mayWait: boolean;
  /** Whether its leases hold permits until they are disposed; `true` where unknown. */
  readonly holdsPermits: boolean;
  /** Whether it is known to count in this process alone. */
  readonly isInProcess: boolean;
  readonly clock: Clock | undefined;
  /** Told where a request is let through because the policy failed. */
  readonly noteLetThrough: NoteLetThrough;
  /** Told once where permits are counted, where only the partitions know. */
  readonly noteStore: (store: string) => void;
}

/** Told of policies that failed, and that a request was let through without. */
export type NoteLetThrough = (
  policies: readonly CompiledPolicy[],
  error: unknown,
  context: HandlingContext,
) => void;

/** Where a policy fails that lets through. No key equals it. */
const WITHOUT_LIMIT: AnyPartition = RateLimitPartition.getNoLimiter<unknown>(Symbol('ratelease.failed'));

/**
 * A policy, ready to decide. The partition is chosen before the limiter is asked, because choosing may take
 * time and limiters ask their partitioner synchronously; in between, the request's context carries it.
 */
export class CompiledPolicy {
  readonly index: number;
  /** How exceptions and the `RateLimit` fields call it. */
  readonly name: string;
  /** The name as an item of the `RateLimit` fields. */
  readonly fieldName: string;
  /** The whole item of the field `RateLimit-Policy`. */
  readonly item: PolicyItem;
  readonly onRejected: OnRejected | undefined;
  /** Decides and counts, and refuses nobody. */
  readonly isShadow: boolean;
  readonly #change: ((changes: object) => void) | undefined;
  /** Whether the `RateLimit` fields mention it. */
  readonly showsQuota: boolean;
  /** The status of its refusals, where it isn't the module's. */
  readonly rejectionStatusCode: number | undefined;
  /** Where it fails, requests are let through without it. */
  readonly failsOpen: boolean;
  /** The most keys that may live at a time. */
  readonly maxPartitions: number;
  readonly mayWait: boolean;
  readonly holdsPermits: boolean;
  readonly isInProcess: boolean;
  readonly counters = new PolicyCounters();
  readonly #clock: Clock | undefined;
  readonly #noteLetThrough: NoteLetThrough;
  readonly #partitioner: Partitioner | undefined;
  #limiter: ContextLimiter;
  #lastPartition: AnyPartition | undefined = undefined;
  #noteStore: ((store: string) => void) | undefined;

  constructor(source: PolicySource, init: CompiledPolicyInit) {
    this.index = init.index;
    this.name = init.name;
    this.fieldName = structuredString(init.name);
    this.item = new PolicyItem(this.fieldName);
    this.onRejected = init.onRejected;
    this.#change = init.change;
    this.isShadow = init.traits.shadow ?? false;
    this.showsQuota = init.traits.headers ?? true;
    this.rejectionStatusCode = init.traits.rejectionStatusCode;
    this.failsOpen = init.traits.whenFailing === 'allow';
    this.maxPartitions = init.traits.maxPartitions ?? Infinity;
    this.#noteLetThrough = init.noteLetThrough;
    this.#noteStore = init.isInProcess ? undefined : init.noteStore;
    this.mayWait = init.mayWait;
    this.holdsPermits = init.holdsPermits;
    this.#partitioner = 'partitioner' in source ? source.partitioner : undefined;
    this.isInProcess = init.isInProcess;
    this.#clock = init.clock;
    this.#limiter = 'limiter' in source ? source.limiter : this.#ownLimiter();
  }

  /** What is asked for permits. */
  get limiter(): ContextLimiter {
    return this.#limiter;
  }

  /** How many partitions live; `null` where the limiter doesn't tell. */
  get partitionCount(): number | null {
    const { partitionCount } = this.#limiter as { partitionCount?: unknown };
    return typeof partitionCount === 'number' ? partitionCount : null;
  }

  /** What is available where there is one partition, the one that was used last; else `null`. */
  get available(): number | null {
    const partition = this.#lastPartition;
    if (partition === undefined || this.partitionCount !== 1) return null;
    const statistics = this.#limiter.getStatistics({
      chosenPartition: () => partition,
    } as unknown as RateLimitingContext);
    return this.partitionCount === 1 ? (statistics?.currentAvailablePermits ?? null) : null;
  }

  /**
   * Takes new numbers, and brings the living partitions to them: what is spent stays spent.
   *
   * @returns whether the policy's numbers can be changed this way.
   */
  change(changes: object): boolean {
    if (this.#change === undefined) return false;
    this.#change(changes);
    this.refresh();
    return true;
  }

  /** Has every partition ask for its numbers again, at its next use. */
  refresh(): void {
    (this.#limiter as { refreshOptions?(): void }).refreshOptions?.();
  }

  /**
   * Forgets what was spent. Leases handed out before give nothing back, and who waits is served as before.
   *
   * @returns whether that was possible: a limiter that was handed in may not know how, and what is counted outside of
   * the process is others' as well.
   */
  reset(): boolean {
    if (this.storeOutside !== undefined) return false;
    if (this.ownsLimiter) {
      // Not disposed: its factories may have handed out limiters that live on elsewhere.
      // Who waits asks the new one for the partition that was chosen before: it stays the last one.
      this.#limiter = this.#ownLimiter();
      return true;
    }
    return resetLimiter(this.#limiter);
  }

  /** Where permits are counted outside of the process, in words, as far as its partitions have told. */
  get storeOutside(): string | undefined {
    const where = this.#lastPartition === undefined ? undefined : storeOf(this.#lastPartition);
    return where === IN_PROCESS ? undefined : where;
  }

  /** The same for the partition of a context. */
  resetPartition(context: HandlingContext): boolean {
    const resolve = (this.#limiter as { [partitionOf]?(context: RateLimitingContext): unknown })[partitionOf];
    return resolve !== undefined && resetPartition(resolve.call(this.#limiter, context));
  }

  /** Whether the limiter was made here, and is disposed here. */
  get ownsLimiter(): boolean {
    return this.#partitioner !== undefined;
  }

  /** Chooses the partition and notes it on the context. A promise only where the policy answers with one. */
  choosePartition(context: HandlingContext): void | Promise<void> {
    const partitioner = this.#partitioner;
    if (partitioner === undefined) return undefined;
    return this.failsOpen
      ? this.#chooseOrLetThrough(context, partitioner)
      : this.#chooseWith(context, partitioner);
  }

  #chooseWith(context: HandlingContext, partitioner: Partitioner): void | Promise<void> {
    const choice = partitioner(context);
    // Another thenable need not answer to then() with one.
    if (isPromise(choice))
      return Promise.resolve(choice).then((partition) => this.#choose(context, partition));
    this.#choose(context, choice);
  }

  #chooseOrLetThrough(context: HandlingContext, partitioner: Partitioner): void | Promise<void> {
    try {
      const choice = this.#chooseWith(context, partitioner);
      return choice?.catch((error: unknown) => this.#letThrough(context, error));
    } catch (error) {
      this.#letThrough(context, error);
    }
  }

  #letThrough(context: HandlingContext, error: unknown): void {
    if (!isLettable(error, context)) throw error;
    this.#noteLetThrough([this], error, context);
    context.choosePartition(this.index, WITHOUT_LIMIT);
  }

  #choose(context: HandlingContext, choice: AnyPartition): void {
    const partition = this.#checked(choice);
    this.#lastPartition = partition;
    if (this.#noteStore !== undefined) this.#tellStore(this.#noteStore, partition);
    context.choosePartition(this.index, partition);
  }

  #tellStore(tell: (store: string) => void, partition: AnyPartition): void {
    const store = storeOf(partition);
    if (store === undefined) return;
    this.#noteStore = undefined;
    tell(store);
  }

  #checked(partition: AnyPartition): AnyPartition {
    if (typeof partition?.factory !== 'function') {
      throw new MissingKeyError(
        `Policy ${JSON.stringify(this.name)} returned ${shown(partition)} instead of a partition. ` +
          'Return RateLimitPartition.get…(key, factory), or getNoLimiter(key) for no limit.',
      );
    }
    const key = partition.partitionKey;
    if (key === undefined || key === null || Number.isNaN(key)) {
      throw new MissingKeyError(
        `Policy ${JSON.stringify(this.name)} chose the key ${shown(key)}, which would be one counter for all ` +
          'whose key is missing. Choose a key for every request.',
      );
    }
    if (isNewEachTime(key)) {
      throw new MissingKeyError(
        `Policy ${JSON.stringify(this.name)} chose ${shown(key)} as the key. Such a key equals no other one, so that every ` +
          'request would count for itself. Make a text of its parts, or use compositeKey().',
      );
    }
    return partition;
  }

  #ownLimiter(): ContextLimiter {
    const { index, maxPartitions } = this;
    const chosen = (context: RateLimitingContext): AnyPartition =>
      (context as HandlingContext).chosenPartition(index);
    return createPartitionedRateLimiter(chosen, {
      clock: this.#clock,
      maxPartitions: maxPartitions === Infinity ? undefined : maxPartitions,
    });
  }
}

/**
 * Literals, what parsers make of a request (its parameters have no prototype on some platforms), dates and bytes are
 * made anew for each request; an instance of another class may well be what requests have in common.
 */
function isNewEachTime(key: unknown): boolean {
  if (typeof key !== 'object' || key === null) return false;
  const prototype: unknown = Object.getPrototypeOf(key);
  if (prototype === null || prototype === Object.prototype) return true;
  return Array.isArray(key) || key instanceof Date || ArrayBuffer.isView(key);
}
