import { FakeClock } from '../../src/testing/index.js';
import { MetadataName } from '../../src/index.js';
import type { RateLimiter, RateLimitLease } from '../../src/index.js';
import type { Kind, Setup } from './limiter-setups.js';
import { createLimiter, createPolicy } from './limiter-setups.js';
import type { Answer } from './reference-limiter.js';
import { ReferenceLimiter } from './reference-limiter.js';
import type { Command } from './trace.js';
import { picked, settle } from './trace.js';

interface Request {
  readonly permits: number;
  readonly abort: AbortController;
  lease?: RateLimitLease;
  answer: Answer;
  isDisposed: boolean;
}

/** A limiter and its naive model, to both of which the same happens. */
export class SideBySide {
  readonly clock = new FakeClock(12_345);
  readonly limiter: RateLimiter;
  readonly #model: ReferenceLimiter;
  readonly #limit: number;
  readonly #requests = new Map<number, Request>();

  constructor(kind: Kind, setup: Setup) {
    this.limiter = createLimiter(kind, setup, this.clock);
    this.#model = new ReferenceLimiter(createPolicy(kind, setup), setup, kind !== 'concurrency');
    this.#limit = setup.limit;
  }

  /** Lets a command happen to both. */
  async run(command: Command): Promise<void> {
    if (command.do === 'advance') {
      this.clock.advance(command.ms);
      this.#model.advance(command.ms);
    } else if (command.do === 'abort') this.#abort(picked(this.#model.waiting, command.pick));
    else if (command.do === 'disposeLease') this.#dispose(command.pick);
    else this.#ask(command.do, Math.min(command.permits, this.#limit));
    await settle();
  }

  /** What the limiter has come to. */
  get actual(): unknown {
    const statistics = this.limiter.getStatistics()!;
    return {
      answers: [...this.#requests.values()].map(({ answer }) => answer),
      available: statistics.currentAvailablePermits,
      queued: statistics.currentQueuedCount,
      granted: statistics.totalSuccessfulLeases,
      refused: statistics.totalFailedLeases,
    };
  }

  /** What it should have come to. */
  get expected(): unknown {
    return {
      answers: [...this.#model.answers.values()],
      available: this.#model.available,
      queued: this.#model.queued,
      granted: this.#model.granted,
      refused: this.#model.refused,
    };
  }

  #ask(how: 'attempt' | 'acquire', permits: number): void {
    const id = this.#requests.size;
    const request: Request = {
      permits,
      abort: new AbortController(),
      answer: { status: 'waiting' },
      isDisposed: false,
    };
    this.#requests.set(id, request);
    if (how === 'attempt') {
      answer(request, this.limiter.attemptAcquire(permits));
      this.#model.attempt(id, permits);
      return;
    }
    this.limiter.acquire(permits, { signal: request.abort.signal }).then(
      (lease) => answer(request, lease),
      () => (request.answer = { status: 'aborted' }),
    );
    this.#model.acquire(id, permits);
  }

  #abort(id: number | undefined): void {
    if (id === undefined) return;
    this.#requests.get(id)!.abort.abort(new Error('aborted'));
    this.#model.abort(id);
  }

  #dispose(pick: number): void {
    const leased = [...this.#requests.values()].filter(({ lease }) => lease !== undefined);
    const request = picked(leased, pick);
    request?.lease?.dispose();
    if (request === undefined || request.isDisposed || request.answer.status !== 'granted') return;
    request.isDisposed = true;
    this.#model.release(request.permits);
  }
}

function answer(request: Request, lease: RateLimitLease): void {
  request.lease = lease;
  if (lease.isAcquired) {
    request.answer = { status: 'granted' };
    return;
  }
  const reason = lease.getMetadata(MetadataName.reasonPhrase);
  const retryAfterMs = lease.getMetadata(MetadataName.retryAfter);
  request.answer = {
    status: 'refused',
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
