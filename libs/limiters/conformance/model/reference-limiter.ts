import type { ReferencePolicy } from './reference-policy.js';

/** What has become of a request. */
export type Answer =
  | { readonly status: 'granted' | 'waiting' | 'aborted' }
  | { readonly status: 'refused'; readonly reason?: string; readonly retryAfterMs?: number };

interface Waiting {
  readonly id: number;
  readonly permits: number;
}

/** How the queue of a limiter is set up. */
export interface QueueSetup {
  readonly queueLimit: number;
  readonly queueProcessingOrder: 'oldestFirst' | 'newestFirst';
}

/** Longer than anything that the traces can have to wait for. */
const LONGEST_WAIT_MS = 100_000;

/** The rules of the queue over a {@link ReferencePolicy}, by looking at every waiter each time. */
export class ReferenceLimiter {
  readonly answers = new Map<number, Answer>();
  granted = 0;
  refused = 0;
  #nowMs = 0;
  #queue: Waiting[] = [];
  readonly #policy: ReferencePolicy;
  readonly #setup: QueueSetup;
  readonly #timeBringsBack: boolean;

  constructor(policy: ReferencePolicy, setup: QueueSetup, timeBringsBack: boolean) {
    this.#policy = policy;
    this.#setup = setup;
    this.#timeBringsBack = timeBringsBack;
  }

  get available(): number {
    return this.#policy.available;
  }

  get queued(): number {
    return this.#queue.reduce((sum, { permits }) => sum + permits, 0);
  }

  /** The requests that wait. */
  get waiting(): readonly number[] {
    return this.#queue.map(({ id }) => id);
  }

  advance(ms: number): void {
    for (let passed = 0; passed < ms; passed++) {
      this.#policy.tick(++this.#nowMs);
      this.#serve();
      this.#policy.cap?.();
    }
  }

  attempt(id: number, permits: number): Answer {
    return this.#note(id, this.#canGrant(permits) ? this.#grant(permits) : this.#refuse(permits, false));
  }

  acquire(id: number, permits: number): Answer {
    if (this.#canGrant(permits)) return this.#note(id, this.#grant(permits));
    if (!this.#hasRoom(permits)) return this.#note(id, this.#refuse(permits, true));
    this.#queue.push({ id, permits });
    return this.#note(id, { status: 'waiting' });
  }

  abort(id: number): void {
    this.#queue = this.#queue.filter((waiter) => waiter.id !== id);
    this.#note(id, { status: 'aborted' });
    this.#serve();
  }

  release(permits: number): void {
    this.#policy.release(permits);
    this.#serve();
  }

  get #isNewestFirst(): boolean {
    return this.#setup.queueProcessingOrder === 'newestFirst';
  }

  #hasEnough(permits: number): boolean {
    return this.#policy.available >= Math.max(1, permits);
  }

  #canGrant(permits: number): boolean {
    if (!this.#hasEnough(permits)) return false;
    return permits === 0 || this.#isNewestFirst || this.#queue.every((waiter) => waiter.permits === 0);
  }

  #hasRoom(permits: number): boolean {
    const { queueLimit } = this.#setup;
    if (permits === 0) return queueLimit > 0;
    if (this.queued + permits <= queueLimit) return true;
    if (!this.#isNewestFirst || permits > queueLimit) return false;
    while (this.queued + permits > queueLimit) {
      const evicted = this.#queue.shift()!;
      const reason = 'Evicted by a newer request';
      this.refused++;
      this.#note(evicted.id, { status: 'refused', reason, ...this.#retryAfter(evicted.permits) });
    }
    return true;
  }

  #serve(): void {
    for (;;) {
      const next = this.#isNewestFirst ? this.#queue.at(-1) : this.#queue[0];
      if (next === undefined || !this.#hasEnough(next.permits)) return;
      this.#queue = this.#queue.filter((waiter) => waiter !== next);
      this.#note(next.id, this.#grant(next.permits));
    }
  }

  #grant(permits: number): Answer {
    this.#policy.take(permits);
    this.granted++;
    return { status: 'granted' };
  }

  #refuse(permits: number, couldWait: boolean): Answer {
    this.refused++;
    const isQueueFull = couldWait && this.#setup.queueLimit > 0;
    const reason = isQueueFull ? 'Queue limit reached' : 'Permit limit reached';
    return { status: 'refused', ...(this.#timeBringsBack ? this.#retryAfter(permits) : { reason }) };
  }

  /** Lets time pass for everybody who is before the request, until it is served too. */
  #retryAfter(permits: number): { retryAfterMs?: number } {
    if (!this.#timeBringsBack) return {};
    const alone = new ReferenceLimiter(
      this.#policy.clone(),
      { ...this.#setup, queueProcessingOrder: 'oldestFirst' },
      true,
    );
    alone.#nowMs = this.#nowMs;
    const probe = -1;
    alone.#queue = [
      ...(this.#isNewestFirst ? [] : this.#queue),
      { id: probe, permits: Math.max(1, permits) },
    ];
    for (let ms = 1; ms < LONGEST_WAIT_MS; ms++) {
      alone.advance(1);
      if (alone.answers.get(probe)?.status === 'granted') return { retryAfterMs: ms };
    }
    throw new Error('The model found no time at which the request is granted.');
  }

  #note(id: number, answer: Answer): Answer {
    this.answers.set(id, answer);
    return answer;
  }
}
