import type { AsyncPartitionedRateLimiter } from '../async-rate-limiter.js';
import type { ChainParticipant } from '../chained/chain-participant.js';
import { REASON, RefusedLease } from '../engine/refused-lease.js';
import {
  asyncOnly,
  errorsOfEach,
  notALease,
  ObjectDisposedError,
  show,
  throwCollected,
  typeError,
} from '../errors.js';
import { throwIfAborted } from '../queue/abort-subscription.js';
import type { Waiter } from '../queue/waiter.js';
import { RateLimitLease } from '../rate-limit-lease.js';
import { DerivedLease } from './derived-lease.js';
import type { LeaseHooks } from './lease-storage.js';
import { LeaseStorage } from './lease-storage.js';
import type { AcquisitionOwner, PendingFailure } from './shared-acquisition.js';
import { SharedAcquisition } from './shared-acquisition.js';
import { StoreGroups } from './store-groups.js';

/** A limiter that may be able to answer at once. */
type AnyPartitioned<TResource> = AsyncPartitionedRateLimiter<TResource> & {
  attemptAcquire?(resource: TResource, permitCount?: number): RateLimitLease;
};

/**
 * The working part of the owner of one lease: what is stored, who waits for it, alone or in chains, and the end
 * of all that.
 */
export class SharedLease implements AcquisitionOwner {
  readonly #hooks: LeaseHooks;
  readonly #storage: LeaseStorage;
  readonly #listeners = new Set<() => void>();
  /** The requests of chains that involve the owner, wherever they wait, with what stands for it in them. */
  readonly #waiting = new Map<Waiter, ChainParticipant>();
  readonly groups = new StoreGroups();
  #pending: SharedAcquisition | null = null;
  /** A lease that was stored since those who wait were last looked at. */
  #arrived: RateLimitLease | null = null;
  /** With what the store has failed to answer a question of {@link SharedLease.hasStored}. */
  #failure: { readonly error: unknown } | null = null;
  #isDisposed = false;
  #wasRefused = false;

  constructor(hooks: LeaseHooks) {
    this.#hooks = hooks;
    this.#storage = new LeaseStorage(hooks);
  }

  get name(): string {
    return this.#hooks.name;
  }

  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  /** Whether the reference limiter has ever refused a request. */
  get wasRefused(): boolean {
    return this.#wasRefused;
  }

  noteRefusal(): void {
    this.#wasRefused = true;
  }

  /** Whether an acquisition outside of chains is on its way. */
  get isPending(): boolean {
    return this.#pending !== null;
  }

  /** The stored lease, if any. @throws whatever the store throws. */
  stored(): RateLimitLease | undefined {
    return this.#isDisposed ? undefined : this.#storage.read();
  }

  /** The same for a request of a chain that begins: with what the store has failed for those before isn't its concern. */
  storedAtFirst(): RateLimitLease | undefined {
    this.#failure = null;
    return this.stored();
  }

  /** The same for one that takes by what {@link SharedLease.hasStored} has told it. */
  storedAsTold(): RateLimitLease | undefined {
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null && !this.#isDisposed) throw failure.error;
    return this.stored();
  }

  /**
   * The same for a question that must not throw: a store that fails shows when it is taken from, also one that answers
   * again by then. What the question was for is decided: nobody has looked whether the reference limiter has enough.
   */
  get hasStored(): boolean {
    try {
      return this.stored() !== undefined;
    } catch (error) {
      this.#failure = { error };
      return true;
    }
  }

  /**
   * Stores a granted lease; {@link SharedLease.serve} has to follow.
   * @returns the lease to go on with.
   * @throws ObjectDisposedError | TypeError | whatever the store throws - after the lease was given back.
   */
  keep(granted: RateLimitLease): RateLimitLease {
    if (this.#isDisposed) return this.#tooLate(granted);
    const lease = this.#storage.write(granted);
    // The store may have ended its owner.
    if (this.#isDisposed) return this.#tooLate(granted);
    this.#arrived = lease;
    return lease;
  }

  derive(lease: RateLimitLease, permitCount: number): DerivedLease {
    const derived: unknown = this.#hooks.makeDerived(lease, permitCount);
    if (derived instanceof RateLimitLease) return derived as DerivedLease;
    throw typeError(
      'ERR_RL_INVALID_ARGUMENT',
      `${this.name}.makeDerived must return a DerivedLease, but got ${show(derived)}.`,
    );
  }

  /** Lets those go on who wait for the lease that has arrived. */
  serve(): void {
    const lease = this.#arrived;
    if (lease === null) return;
    this.#arrived = null;
    this.#endPending(lease);
    this.groups.serve();
    const errors = errorsOfEach([...this.#waiting.keys()], (waiter) => waiter.onNeedsLess());
    throwCollected(errors, `Several requests that wait for ${this.name} failed.`);
  }

  attempt<TResource>(
    base: AsyncPartitionedRateLimiter<TResource>,
    resource: TResource,
    permitCount: number,
  ): DerivedLease {
    this.#assertAlive();
    const stored = this.stored();
    if (stored !== undefined) return this.derive(stored, permitCount);
    const limiter: AnyPartitioned<TResource> = base;
    if (limiter.attemptAcquire === undefined) throw asyncOnly(base);
    const lease = requireLease(limiter.attemptAcquire(resource, 1), base);
    if (!lease.isAcquired) {
      this.noteRefusal();
      return this.derive(lease, permitCount);
    }
    const kept = this.keep(lease);
    this.serve();
    return this.derive(kept, permitCount);
  }

  async acquire<TResource>(
    base: AsyncPartitionedRateLimiter<TResource>,
    resource: TResource,
    request: { readonly permitCount: number; readonly signal: AbortSignal | undefined },
  ): Promise<DerivedLease> {
    this.#assertAlive();
    if (request.signal !== undefined) throwIfAborted(request.signal);
    const stored = this.stored();
    if (stored !== undefined) return this.derive(stored, request.permitCount);
    if (this.#pending !== null) return this.#pending.join(request.permitCount, request.signal);
    const pending = new SharedAcquisition(this);
    const joined = pending.join(request.permitCount, request.signal);
    this.#pending = pending;
    void pending.run(async (signal) => requireLease(await base.acquire(resource, 1, { signal }), base));
    return joined;
  }

  /** The acquisition outside of chains has ended by itself. */
  onPendingEnded(outcome: PendingFailure | 'granted'): void {
    this.#pending = null;
    if (outcome !== null && outcome !== 'granted' && 'refusal' in outcome) this.noteRefusal();
    if (outcome === 'granted') this.serve();
    else this.groups.onPendingEnded(outcome);
  }

  onDisposed(listener: () => void): () => void {
    if (this.#isDisposed) {
      listener();
      return () => undefined;
    }
    // Twice the same function is two wishes.
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** A request of a chain begins to wait, or no longer does. */
  hold(waiter: Waiter, participant: ChainParticipant): void {
    this.#waiting.set(waiter, participant);
  }

  unhold(waiter: Waiter): void {
    this.#waiting.delete(waiter);
  }

  /** The end. Everybody leaves before anybody is looked at who waits behind them. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    const waiting = [...this.#waiting];
    for (const [waiter, participant] of waiting) {
      waiter.withdraw(new RefusedLease(REASON.ownerDisposed), participant);
    }
    this.#arrived = null;
    this.#endPending(new RefusedLease(REASON.ownerDisposed));
    const errors = this.#tellListeners();
    errors.push(...this.#storage.end());
    errors.push(...errorsOfEach(waiting, ([waiter]) => waiter.resume()));
    throwCollected(errors, `${this.name} failed to end in several ways.`);
  }

  #endPending(lease: RateLimitLease): void {
    const pending = this.#pending;
    this.#pending = null;
    pending?.end(lease);
  }

  #tellListeners(): unknown[] {
    const errors = errorsOfEach(this.#listeners, (listener) => listener());
    this.#listeners.clear();
    return errors;
  }

  #tooLate(granted: RateLimitLease): never {
    granted.dispose();
    throw new ObjectDisposedError(this.name);
  }

  #assertAlive(): void {
    if (this.#isDisposed) throw new ObjectDisposedError(this.name);
  }
}

function requireLease(lease: unknown, limiter: object): RateLimitLease {
  if (lease instanceof RateLimitLease) return lease;
  throw notALease(`The reference limiter, ${show(limiter)},`, lease);
}
