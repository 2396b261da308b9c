import { FakeClock } from '../../src/testing/index.js';
import type { RateLimiter, RateLimitLease } from '../../src/index.js';
import type { Grant } from './guarantees.js';
import { picked, settle } from './trace.js';

/** A request and what has become of it. */
export interface WatchedRequest {
  readonly permits: number;
  readonly limiter: RateLimiter;
  readonly abort: AbortController;
  status: 'waiting' | 'granted' | 'refused' | 'rejected';
  lease?: RateLimitLease;
  isDisposed: boolean;
}

/** Makes requests to limiters of one clock and notes what was granted when. */
export class Watch {
  readonly clock: FakeClock;
  readonly grants: (Grant & { readonly request: WatchedRequest })[] = [];
  readonly requests: WatchedRequest[] = [];
  /** Milliseconds that really passed: steps back of the clock are none. */
  #passedMs = 0;

  constructor(clock = new FakeClock(1_000)) {
    this.clock = clock;
  }

  get waiting(): WatchedRequest[] {
    return this.requests.filter(({ status }) => status === 'waiting');
  }

  get holding(): WatchedRequest[] {
    return this.requests.filter(({ status, isDisposed }) => status === 'granted' && !isDisposed);
  }

  attempt(limiter: RateLimiter, permits: number): WatchedRequest {
    const request = this.#note(limiter, permits);
    this.#answer(request, limiter.attemptAcquire(permits));
    return request;
  }

  async acquire(limiter: RateLimiter, permits: number, maxWaitMs?: number): Promise<WatchedRequest> {
    const request = this.#note(limiter, permits);
    limiter.acquire(permits, { signal: request.abort.signal, maxWaitMs }).then(
      (lease) => this.#answer(request, lease),
      () => (request.status = 'rejected'),
    );
    await settle();
    return request;
  }

  /** Lets time pass, a millisecond at a time, so that each grant is noted when it happens. */
  async advance(ms: number): Promise<void> {
    // What is overdue after a blocked loop happens now, not a millisecond later.
    this.clock.advance(Math.min(0, ms));
    await settle();
    for (let passed = 0; passed < ms; passed++) {
      this.#passedMs++;
      this.clock.advance(1);
      // oxlint-disable-next-line no-await-in-loop -- grants are noted in between
      await settle();
    }
  }

  /** The event loop is blocked for so long. */
  skip(ms: number): void {
    this.#passedMs += ms;
    this.clock.skip(ms);
  }

  async disposeOne(pick: number): Promise<void> {
    const request = picked(this.holding, pick);
    if (request !== undefined) await this.dispose(request);
  }

  async dispose(request: WatchedRequest): Promise<void> {
    request.isDisposed = true;
    request.lease?.dispose();
    await settle();
  }

  async abortOne(pick: number): Promise<void> {
    picked(this.waiting, pick)?.abort.abort(new Error('aborted'));
    await settle();
  }

  #note(limiter: RateLimiter, permits: number): WatchedRequest {
    const abort = new AbortController();
    const request: WatchedRequest = { permits, limiter, abort, status: 'waiting', isDisposed: false };
    this.requests.push(request);
    return request;
  }

  #answer(request: WatchedRequest, lease: RateLimitLease): void {
    request.lease = lease;
    request.status = lease.isAcquired ? 'granted' : 'refused';
    if (lease.isAcquired) this.grants.push({ atMs: this.#passedMs, permits: request.permits, request });
  }
}
