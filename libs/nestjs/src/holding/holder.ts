import type { ExecutionContext } from '@nestjs/common';
import type { Clock, ClockTimer } from '@ratelease/limiters';
import type { HandlingContext } from '../context/handling-context.js';
import type { EndpointPlan, Phase } from '../endpoints/endpoint-plan.js';
import { ClientGoneException } from '../rejection/client-gone.exception.js';
import type { ClientWatch } from './client-watch.js';
import type { Verdict } from './verdict.js';
import type { Grant } from './grant.js';

/**
 * Holds the leases of one handling for as long as its work lives: until its response is closed and nothing of it
 * runs any more, whichever comes last. A streamed response outlives its handler, and a handler outlives a client
 * that left; neither end alone would do.
 */
export class Holder {
  /** Whether the end of the response is told to it. */
  isWatched = false;
  /** Whether the `RateLimit` fields of an earlier phase stand on the response. */
  hasFields = false;
  /** Whether it ever held permits, which a client that leaves takes along. */
  hasHeld = false;
  readonly context: HandlingContext;
  /** What each phase comes to: an acquisition is made once, however often a guard or interceptor is bound. */
  readonly decisions: Record<Phase, Verdict | undefined> = {
    middleware: undefined,
    guard: undefined,
    interceptor: undefined,
    args: undefined,
    condition: undefined,
  };
  #plan: EndpointPlan;
  readonly #watch: ClientWatch;
  #grants: Grant[] | undefined = undefined;
  /** So many of them are the request's, whichever route answers it. */
  #grantsBeforeRouting = 0;
  #isPassedOn = false;
  #running = 0;
  #hasRun = false;
  #isRefused = false;
  #waiting = 0;
  #asking = 0;
  #isClosed: boolean;
  #limit: ClockTimer | undefined = undefined;

  /**
   * @param isClosed - `true` where there is no response to wait for: the work is all there is.
   */
  constructor(plan: EndpointPlan, context: HandlingContext, isClosed: boolean, watch: ClientWatch) {
    this.#plan = plan;
    this.context = context;
    this.#isClosed = isClosed;
    this.#watch = watch;
    context.followBy(this);
  }

  /** From now on the end of the connection is noticed; whatever takes time needs that. */
  follow(): void {
    this.#watch.watch(this);
  }

  /** Notices a client that has left already, whether its connection is followed or its event is yet to come. */
  look(): void {
    this.#watch.look(this);
  }

  /** What applies to the handling. */
  get plan(): EndpointPlan {
    return this.#plan;
  }

  /** The request has come to its handler, with what it has got before routing. */
  route(plan: EndpointPlan, execution: ExecutionContext): void {
    this.#plan = plan;
    this.#grantsBeforeRouting = this.#grants?.length ?? 0;
    this.context.route(execution, plan.handler);
  }

  /**
   * The request has gone on to another route, which answers it: what it got for this one goes back as soon as nothing
   * of this one runs. Else it would wait there for what it holds itself.
   */
  passOn(): void {
    this.#isPassedOn = true;
    this.#releaseAtEnd();
  }

  /**
   * Keeps a granted lease until the end; where the end has come meanwhile, it goes back at once.
   *
   * @param isHeld - `false` for a lease of rates alone, which is kept for those who watch.
   */
  keep(grant: Grant, isHeld: boolean): void {
    if (isHeld) this.hasHeld = true;
    (this.#grants ??= []).push(grant);
    this.#releaseAtEnd();
  }

  /** Something of the handling begins to run. */
  enter(): void {
    this.#running++;
  }

  /** Something of the handling has ended. */
  leave(): void {
    this.#running--;
    this.#hasRun = true;
    if (this.#running === 0) this.#watch.forget(this);
    if (this.#grants === undefined) return;
    if (!this.#isClosed && this.context.type === 'http' && this.#isOver) this.giveUp();
    else this.#releaseAtEnd();
  }

  /**
   * The handling is refused, and its handler never runs. The application may still have its say on that, for as long as it
   * likes: what the handling holds from earlier phases doesn't wait for it.
   */
  refuse(): void {
    this.#isRefused = true;
    this.#releaseAtEnd();
  }

  /** The handling begins to wait for permits. */
  beginWait(): void {
    this.#waiting++;
    this.#watch.beginWait(this);
  }

  /** Whether it waits for permits. */
  get isWaiting(): boolean {
    return this.#waiting > 0;
  }

  endWait(): void {
    this.#waiting--;
  }

  /** The application's code is asked for what a decision needs, which takes time. */
  beginAsking(): void {
    this.#asking++;
  }

  endAsking(): void {
    this.#asking--;
  }

  get #isUndecided(): boolean {
    return this.#waiting > 0 || this.#asking > 0;
  }

  /** Nobody waits for the decision of a phase any more; asked again, it is made anew. */
  abandon(phase: Phase): void {
    if (!this.#isUndecided) return;
    this.decisions[phase] = undefined;
    this.context.abortWait(new ClientGoneException());
  }

  /**
   * The response has ended, or its connection has.
   *
   * @param isFinished - whether all of it was sent.
   */
  close(isFinished: boolean): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!isFinished || this.#isUndecided) this.context.abort(new ClientGoneException());
    this.#releaseAtEnd();
  }

  /** The client has left, elsewhere than over HTTP. What runs there is the handling, and goes on to its end. */
  disconnect(): void {
    if (this.#isClosed) this.context.abort(new ClientGoneException());
    else this.close(false);
  }

  /** Gives the permits back after a time, whatever still runs, counted from the first of them. */
  limit(maxHoldMs: number, clock: Clock): void {
    const end = (): void => {
      this.#limit = undefined;
      this.#release();
    };
    this.#limit ??= clock.setTimer(end, maxHoldMs, { background: true });
  }

  /** Gives the permits back before the response has ended, where that waits for others and nothing runs any more. */
  giveUp(): void {
    if (this.#hasRun && this.#running === 0) this.#release();
  }

  /** Whether the end of the handler is the end of what is held, before that of the response. */
  get #isOver(): boolean {
    return this.#plan.isHeldByHandler || this.#watch.isBlocked(this);
  }

  #releaseAtEnd(): void {
    if (this.#running > 0 && !this.#isRefused) return;
    if (this.#isClosed) this.#release();
    else if (this.#isPassedOn) this.#releaseRoute();
  }

  #releaseRoute(): void {
    if (this.#grantsBeforeRouting === 0) return this.#release();
    for (const grant of this.#grants?.splice(this.#grantsBeforeRouting).reverse() ?? [])
      grant.releaseQuietly();
  }

  #release(): void {
    if (this.#grants === undefined) return;
    this.#limit?.cancel();
    this.#limit = undefined;
    const grants = this.#grants;
    this.#grants = undefined;
    for (const grant of grants.reverse()) grant.releaseQuietly();
  }
}
