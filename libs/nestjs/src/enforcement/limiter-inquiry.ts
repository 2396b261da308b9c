import type { RateLimitLease } from '@ratelease/limiters';
import { ObjectDisposedError, refusedMember } from '@ratelease/limiters';
import { isAboveLimit } from '../errors/is-above-limit.js';
import type { Holder } from '../holding/holder.js';
import type { WaitBounds } from '../policies/policy-set.js';
import { AboveLimitLease } from '../rejection/above-limit-lease.js';
import { ClientGoneException } from '../rejection/client-gone.exception.js';
import type { Refusals } from '../rejection/refusals.js';
import { ShutdownError } from '../rejection/shutdown-error.js';
import type { Question } from './question.js';
import { causeOf } from './wait-failure.js';

/** What bounds the wait of policies without a queue. */
const neverWaits = (): WaitBounds => ({ signal: undefined, maxWaitMs: Infinity });

/**
 * Asks the limiters of a policy set, and waits in their queues. Where asking is an error, it answers in place of a lease
 * if that error is a matter of course: of a request above the limit, and of an application that ends.
 */
export class LimiterInquiry {
  readonly #refusals: Refusals;
  readonly #maxWaiting: number;
  readonly #waiting = new Set<Holder>();
  #isShuttingDown = false;

  /** @param maxWaiting - so many requests may wait at the same time; those beyond are decided at once. */
  constructor(refusals: Refusals, maxWaiting: number) {
    this.#refusals = refusals;
    this.#maxWaiting = maxWaiting;
  }

  /** Whether the application ends. */
  get isShuttingDown(): boolean {
    return this.#isShuttingDown;
  }

  /** Ends all waits; from now on nobody is asked any more. */
  shutDown(): void {
    this.#isShuttingDown = true;
    for (const holder of this.#waiting) holder.context.abort(new ShutdownError());
  }

  /** The answer to a question: at once where nobody has to wait, and else a promise. */
  ask(question: Question): RateLimitLease | Promise<RateLimitLease> {
    const { set, permits, holder } = question;
    if (this.#isShuttingDown) return this.answerShutdown(question, new AboveLimitLease());
    if (set.mayWait) return this.#askAndWait(question);
    try {
      const answer = set.ask(holder.context, permits, neverWaits);
      return answer instanceof Promise ? this.#await(question, answer, undefined) : answer;
    } catch (error) {
      return this.#unaskable(question, error);
    }
  }

  /** The application ends before anything was decided. */
  answerShutdown({ set, holder, observation }: Question, lease: RateLimitLease): never {
    observation?.canceled();
    this.#refusals.answerShutdown(set, lease, holder);
  }

  #askAndWait(question: Question): RateLimitLease | Promise<RateLimitLease> {
    let bounds: WaitBounds | undefined;
    try {
      const answer = question.set.ask(
        question.holder.context,
        question.permits,
        () => (bounds = this.#beginWait(question)),
      );
      // What wasn't asked how long it may wait has answered, if with a promise.
      return answer instanceof Promise ? this.#await(question, answer, bounds) : answer;
    } catch (error) {
      if (bounds !== undefined) this.#endWait(question);
      return this.#unaskable(question, causeOf(bounds, error));
    }
  }

  async #await(
    question: Question,
    answer: Promise<RateLimitLease>,
    bounds: WaitBounds | undefined,
  ): Promise<RateLimitLease> {
    if (bounds !== undefined) question.observation?.waiting(answer);
    let lease: RateLimitLease;
    try {
      lease = await answer;
    } catch (error) {
      // Before anybody hears of the end: who hears of it counts those who still wait.
      if (bounds !== undefined) this.#endWait(question);
      return this.#unaskable(question, causeOf(bounds, error));
    }
    if (bounds !== undefined) this.#endWait(question);
    return lease;
  }

  #beginWait({ acquisition, set, holder }: Question): WaitBounds {
    const isFull = this.#waiting.size >= this.#maxWaiting;
    this.#waiting.add(holder);
    holder.beginWait();
    set.noteQueued(1);
    holder.follow();
    return { signal: holder.context.signal, maxWaitMs: isFull ? 0 : (acquisition.maxWaitMs ?? Infinity) };
  }

  #endWait({ set, holder }: Question): void {
    holder.endWait();
    set.noteQueued(-1);
    // Who gave a wait up and asked again waits anew before the first one has ended.
    if (!holder.isWaiting) this.#waiting.delete(holder);
  }

  /** The answer in place of a lease, where asking is an error. */
  #unaskable(question: Question, error: unknown): RateLimitLease | Promise<RateLimitLease> {
    const isShutdown =
      error instanceof ShutdownError || (error instanceof ObjectDisposedError && this.#isShuttingDown);
    if (isShutdown) return this.answerShutdown(question, new AboveLimitLease());
    if (isAboveLimit(error)) return this.#aboveLimit(question, error);
    if (error instanceof ClientGoneException) question.observation?.canceled();
    else question.observation?.failed();
    throw error;
  }

  /** No waiting would help, but how the limiters stand is told all the same: asked for no permits, they say it. */
  async #aboveLimit({ set, holder }: Question, error: Error): Promise<RateLimitLease> {
    const atOnce = (): WaitBounds => ({ signal: holder.context.signal, maxWaitMs: 0 });
    const standing = await set.ask(holder.context, 0, atOnce);
    const quota = standing.quota();
    standing.dispose();
    return new AboveLimitLease(refusedMember(error), quota);
  }
}
