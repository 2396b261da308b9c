import type { Abortable, AbortSubscription } from '../queue/abort-subscription.js';
import { subscribeToAbort } from '../queue/abort-subscription.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { DerivedLease } from './derived-lease.js';

/** How a shared acquisition has ended without a lease: refused, failed, or given up by all (`null`). */
export type PendingFailure = { readonly refusal: RateLimitLease } | { readonly error: unknown } | null;

/** Whom an acquisition is for. */
export interface AcquisitionOwner {
  keep(granted: RateLimitLease): RateLimitLease;
  derive(lease: RateLimitLease, permitCount: number): DerivedLease;
  onPendingEnded(outcome: PendingFailure | 'granted'): void;
}

/**
 * The one acquisition of the reference lease that all first requests share. Each of them can give up alone; when
 * the last one does, the acquisition is cancelled, and what it may be granted all the same goes back.
 */
export class SharedAcquisition {
  readonly #owner: AcquisitionOwner;
  readonly #requests = new Set<SharedRequest>();
  readonly #controller = new AbortController();
  #isOver = false;

  constructor(owner: AcquisitionOwner) {
    this.#owner = owner;
  }

  /** Lets one more request wait for it. */
  join(permitCount: number, signal: AbortSignal | undefined): Promise<DerivedLease> {
    const request = new SharedRequest(this, permitCount, signal);
    this.#requests.add(request);
    return request.promise;
  }

  leave(request: SharedRequest): void {
    this.#requests.delete(request);
  }

  /** Asks the reference limiter. Never rejects. */
  async run(ask: (signal: AbortSignal) => Promise<RateLimitLease>): Promise<void> {
    try {
      this.#onLease(await ask(this.#controller.signal));
    } catch (error) {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#forEach((request) => request.reject(error));
      this.#owner.onPendingEnded({ error });
    }
  }

  /** Ends it from outside: by a lease from elsewhere, or by a refusal. */
  end(lease: RateLimitLease): void {
    this.#isOver = true;
    this.#answer(lease);
    this.#controller.abort();
  }

  /** Gives up where nobody waits any more. */
  cancelIfUnwanted(): void {
    if (this.#isOver || this.#requests.size > 0) return;
    this.#isOver = true;
    this.#controller.abort();
    this.#owner.onPendingEnded(null);
  }

  #onLease(lease: RateLimitLease): void {
    if (this.#isOver) {
      // Cancelled too late. An error here has nobody to go to.
      lease.dispose();
      return;
    }
    const kept = lease.isAcquired ? this.#owner.keep(lease) : lease;
    // The store may have served those who wait while it was asked.
    if (this.#isOver) return;
    this.#isOver = true;
    this.#answer(kept);
    this.#owner.onPendingEnded(kept.isAcquired ? 'granted' : { refusal: kept });
  }

  #answer(lease: RateLimitLease): void {
    this.#forEach((request) => {
      try {
        request.resolve(this.#owner.derive(lease, request.permitCount));
      } catch (error) {
        request.reject(error);
      }
    });
  }

  #forEach(visit: (request: SharedRequest) => void): void {
    const requests = [...this.#requests];
    this.#requests.clear();
    for (const request of requests) visit(request);
  }
}

/** A request that waits for a shared acquisition. */
class SharedRequest implements Abortable {
  readonly permitCount: number;
  readonly promise: Promise<DerivedLease>;
  readonly #acquisition: SharedAcquisition;
  readonly #subscription: AbortSubscription | null;
  #resolve!: (lease: DerivedLease) => void;
  #reject!: (reason: unknown) => void;

  constructor(acquisition: SharedAcquisition, permitCount: number, signal: AbortSignal | undefined) {
    this.#acquisition = acquisition;
    this.permitCount = permitCount;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#subscription = signal === undefined ? null : subscribeToAbort(signal, this);
  }

  resolve(lease: DerivedLease): void {
    this.#subscription?.delete(this);
    this.#resolve(lease);
  }

  reject(reason: unknown): void {
    this.#subscription?.delete(this);
    this.#reject(reason);
  }

  onAbort(reason: unknown): void {
    this.#acquisition.leave(this);
    this.reject(reason);
  }

  afterAbort(): void {
    this.#acquisition.cancelIfUnwanted();
  }
}
