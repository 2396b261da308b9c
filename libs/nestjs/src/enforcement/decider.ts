import type { RateLimitLease } from '@ratelease/limiters';
import { systemClock } from '@ratelease/limiters';
import type { Acquisition } from '../endpoints/endpoint-plan.js';
import { isLettable } from '../errors/is-lettable.js';
import { Grant } from '../holding/grant.js';
import type { Holder } from '../holding/holder.js';
import type { Verdict } from '../holding/verdict.js';
import { decisionOf } from '../holding/verdict.js';
import { isPreflight } from '../http/preflight.js';
import type { Settings } from '../module/settings.js';
import { isPromise } from '../policies/is-promise.js';
import type { PolicySet } from '../policies/policy-set.js';
import { AboveLimitLease } from '../rejection/above-limit-lease.js';
import { Refusals } from '../rejection/refusals.js';
import { ShutdownError } from '../rejection/shutdown-error.js';
import type { Visibility } from '../visibility/visibility.js';
import { askedPermits, isDecidedWithoutClient, questionFor } from './asked-permits.js';
import { HandlingAnswers } from './handling-answers.js';
import { LimiterInquiry } from './limiter-inquiry.js';
import type { MaybeQuestion, Question } from './question.js';
import { ShadowTrial } from './shadow-trial.js';
import { writeStanding } from './standing-fields.js';

const LIMITER_DISPOSED = 'Limiter disposed';

/**
 * Decides acquisitions. A decision is a promise only where something takes time: a policy, a condition, a queue.
 * Most requests are granted or refused at once, and then nothing is prepared that only a wait needs.
 */
export class Decider {
  readonly #settings: Settings;
  readonly #refusals: Refusals;
  readonly #visibility: Visibility;
  readonly #shadows: ShadowTrial;
  readonly #inquiry: LimiterInquiry;
  readonly #answers = new HandlingAnswers();

  constructor(settings: Settings, visibility: Visibility) {
    this.#settings = settings;
    this.#visibility = visibility;
    this.#shadows = new ShadowTrial(visibility);
    this.#refusals = new Refusals(settings, visibility);
    this.#inquiry = new LimiterInquiry(this.#refusals, settings.maxQueuedRequests);
  }

  /** Whether the application ends. */
  get isShuttingDown(): boolean {
    return this.#inquiry.isShuttingDown;
  }

  /** Refuses everything that waits, and everything that comes from now on. */
  shutDown(): void {
    this.#inquiry.shutDown();
    this.#answers.end();
  }

  /** Decides an acquisition. The promise of a decision rejects with the refusal. */
  decide(acquisition: Acquisition, holder: Holder): Verdict {
    const { set, when, permitCount } = acquisition;
    if (when === undefined) this.#throwIfTooLate(acquisition, set, holder);
    if (isPreflight(holder.context) && !this.#settings.countPreflights) return true;
    if (when !== undefined || typeof permitCount !== 'number')
      return this.#decideByCallbacks(acquisition, holder);
    return this.#decideOn({ acquisition, set, permits: permitCount, holder }, acquisition.shadows);
  }

  /** The client had left, or the application began to end, before a limiter was asked: that is an outcome as well. */
  #throwIfTooLate({ endpoint }: Acquisition, set: PolicySet | null, holder: Holder): void {
    const { context } = holder;
    if (context.abortReason === undefined) return;
    if (set !== null && this.#visibility.isWatched)
      this.#visibility.observe({ set, permits: 0, endpoint, context })?.canceled();
    this.#throwIfOver(set, holder);
  }

  #decideByCallbacks(acquisition: Acquisition, holder: Holder): Verdict {
    const asked = { acquisition, set: acquisition.set, holder };
    const permits = askedPermits(acquisition, holder.context, this.#visibility);
    if (!isPromise(permits)) return this.#decideOn(...questionFor(asked, permits));
    holder.follow();
    const answer = this.#answerTo(asked, permits, isDecidedWithoutClient(asked));
    return answer.then((given) => decisionOf(this.#decideOn(...questionFor(asked, given))));
  }

  /** What the application's code has promised; the application may end before, or, where that counts, the client leave. */
  async #answerTo<T>(
    { acquisition, set, holder }: Omit<MaybeQuestion, 'permits'>,
    answer: Promise<T>,
    endsWithClient = true,
  ): Promise<T> {
    try {
      return await this.#answers.forDecision(answer, holder, endsWithClient);
    } catch (error) {
      if (error === holder.context.abortReason)
        this.#throwIfTooLate(acquisition, set ?? acquisition.shadows[0]!, holder);
      throw error;
    }
  }

  #decideOn(question: MaybeQuestion, shadows: readonly PolicySet[]): Verdict {
    const decision = question.set === null ? true : this.#choose(question as Question);
    return shadows.length === 0 ? decision : this.#decideAndTry(decision, shadows, question);
  }

  async #decideAndTry(
    verdict: Verdict,
    shadows: readonly PolicySet[],
    { acquisition, permits, holder }: MaybeQuestion,
  ): Promise<boolean> {
    if (!(await decisionOf(verdict))) return false;
    holder.follow();
    const trial = this.#shadows.tryAll(shadows, { endpoint: acquisition.endpoint, permits, holder });
    await this.#answers.wait(trial, holder.context).catch(() => undefined);
    this.#throwIfOver(shadows[0]!, holder);
    return true;
  }

  #choose(question: Question): Verdict {
    const choice = question.set.choosePartitions(question.holder.context);
    if (choice === undefined) return this.#take(question);
    question.holder.follow();
    return this.#answerTo(question, choice).then(() => decisionOf(this.#take(question)));
  }

  #take(asked: Question): Verdict {
    const { acquisition, holder } = asked;
    holder.look();
    this.#throwIfTooLate(acquisition, asked.set, holder);
    const question = this.#observed(asked);
    let answer: RateLimitLease | Promise<RateLimitLease>;
    try {
      answer = this.#inquiry.ask(question);
    } catch (error) {
      return this.#takeWithoutFailing(question, error);
    }
    if (!(answer instanceof Promise)) return this.#settle(question, answer);
    return answer.then(
      (lease) => {
        // A connection that is destroyed says so at the end of a turn; before, others may have given back what is waited for.
        holder.look();
        return decisionOf(this.#settle(question, lease));
      },
      (error: unknown) => decisionOf(this.#takeWithoutFailing(question, error)),
    );
  }

  /**
   * Asking has failed. Nobody knows whose fault that is where several are asked together, so those that let through
   * then are left out, and the others are asked once more: where it was theirs, that fails as well.
   */
  #takeWithoutFailing(question: Question, error: unknown): Verdict {
    const { set, holder } = question;
    if (!set.mayFailOpen || !isLettable(error, holder.context)) throw error;
    const lenient = set.policies.filter(({ failsOpen }) => failsOpen);
    this.#visibility.noteLetThrough(lenient, error, holder.context);
    const rest = set.withoutFailing;
    return rest === null || this.#take({ ...question, set: rest });
  }

  /** Nothing is made for those who watch where nobody does. */
  #observed(question: Question): Question {
    if (!this.#visibility.isWatched) return question;
    const { acquisition, set, permits, holder } = question;
    const { endpoint } = acquisition;
    const observation = this.#visibility.observe({ set, permits, endpoint, context: holder.context });
    return observation === undefined ? question : { ...question, observation };
  }

  #settle(question: Question, lease: RateLimitLease): Verdict {
    const { set, permits, holder, observation } = question;
    if (!lease.isAcquired) return this.#refuse(question, lease);
    set.noteGranted(permits);
    observation?.acquired();
    const isHeld = set.isHeld(lease);
    if (isHeld || observation !== undefined) {
      holder.keep(new Grant(lease, set, permits, observation), isHeld);
      holder.follow();
      const { maxHoldMs, clock = systemClock } = this.#settings;
      if (maxHoldMs !== undefined) holder.limit(maxHoldMs, clock);
    } else {
      set.noteReleased(permits);
    }
    this.#throwIfOver(set, holder);
    // Last, since a lease of the application's may fail to say how its limiter stands.
    if (holder.context.type === 'http') writeStanding(question, lease, this.#settings);
    return true;
  }

  /** Whatever was awaited, the client may have left meanwhile, or the application begun to end: no handler must run. */
  #throwIfOver(set: PolicySet | null, holder: Holder): void {
    const { abortReason } = holder.context;
    if (abortReason === undefined) return;
    if (abortReason instanceof ShutdownError && set !== null)
      this.#refusals.answerShutdown(set, new AboveLimitLease(), holder);
    throw abortReason;
  }

  #refuse(question: Question, lease: RateLimitLease): Verdict {
    const { acquisition, set, holder, observation } = question;
    const isEnd = this.isShuttingDown && lease.getMetadata('REASON_PHRASE') === LIMITER_DISPOSED;
    if (isEnd) return this.#inquiry.answerShutdown(question, lease);
    const policy = set.refusingPolicy(lease);
    policy.counters.refused++;
    const verdict = this.#refusals.answer({ acquisition, set, lease, policy, observation }, holder);
    if (!(verdict instanceof Promise)) return verdict;
    return this.#answers.forSay(verdict, holder.context).catch((error: unknown) => {
      if (error === holder.context.abortReason) this.#throwIfOver(set, holder);
      throw error;
    });
  }
}
