import { AsyncLocalStorage } from 'node:async_hooks';
import type { ExecutionContext, OnModuleDestroy } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { AcquireOptions, RateLimitLease } from '@ratelease/limiters';
import { ObjectDisposedError } from '@ratelease/limiters';
import { handlingIdentity } from '../context/context-source.js';
import { HandlingContext } from '../context/handling-context.js';
import { OutsideExecution } from '../context/outside-execution.js';
import type { RateLimitingContextType } from '../context/rate-limiting-context.js';
import type { Acquisition, EndpointPlan, Phase } from '../endpoints/endpoint-plan.js';
import type { PlanBook } from '../endpoints/plan-book.js';
import { isCount } from '../endpoints/plan-book.js';
import { InvalidDecisionError } from '../errors/invalid-decision-error.js';
import { shown } from '../errors/shown.js';
import { ConnectionWatch } from '../holding/connection-watch.js';
import { Grant } from '../holding/grant.js';
import { Holder } from '../holding/holder.js';
import { rateLimitFields } from '../http/rate-limit-fields.js';
import { rawRequest } from '../http/raw-http.js';
import { writeRateLimit } from '../http/response-fields.js';
import type { Settings } from '../module/settings.js';
import { PLANS, SETTINGS } from '../module/tokens.js';
import type { PolicySet } from '../policies/policy-set.js';
import { AboveLimitLease } from '../rejection/above-limit-lease.js';
import { Refusals } from '../rejection/refusals.js';
import { ShutdownError } from '../rejection/shutdown-error.js';

const LIMITER_DISPOSED = 'Limiter disposed';

/** Takes permits for the requests of one application, and gives them back at the end of their work. */
@Injectable()
export class Enforcement implements OnModuleDestroy {
  /** The handling that runs, for methods that take permits after pipes: Nest passes them only their arguments. */
  readonly handlings = new AsyncLocalStorage<Holder>();
  readonly #settings: Settings;
  readonly #plans: PlanBook;
  readonly #refusals: Refusals;
  readonly #watch = new ConnectionWatch();
  readonly #holders = new WeakMap<object, Holder>();
  readonly #waiting = new Set<Holder>();
  #isShuttingDown = false;

  constructor(@Inject(SETTINGS) settings: Settings, @Inject(PLANS) plans: PlanBook) {
    this.#settings = settings;
    this.#plans = plans;
    this.#refusals = new Refusals(settings);
  }

  /** What applies to the handler of a context; `null` for nothing. */
  planOf(execution: ExecutionContext): EndpointPlan | null {
    return this.#plans.planOf(execution.getClass(), execution.getHandler());
  }

  /** The holder of a handling, made at the first call. */
  holderOf(execution: ExecutionContext, plan: EndpointPlan): Holder {
    const type = execution.getType<RateLimitingContextType>();
    const identity = handlingIdentity(execution, type);
    const known = this.#holders.get(identity);
    if (known !== undefined && known.plan === plan) return known;
    const isHttp = type === 'http';
    let holder: Holder;
    if (known !== undefined && known.plan === this.#plans.planBeforeRouting) {
      holder = known;
      known.route(plan, execution);
    } else {
      // A request can fall through to the next matching route: that is another handling.
      holder = new Holder(plan, new HandlingContext(execution, plan.handler, this.#settings), !isHttp);
      holder.decisions.middleware = this.#decisionBeforeRouting(holder);
      this.#holders.set(identity, holder);
    }
    if (isHttp && plan.isFollowed) this.#watch.watch(holder);
    return holder;
  }

  /** The holder of a request that no handler was chosen for yet. */
  holderBeforeRouting(request: object, response: object, plan: EndpointPlan): Holder {
    const identity = rawRequest(request);
    const known = this.#holders.get(identity);
    if (known !== undefined) return known;
    const execution = new OutsideExecution('http', [request, response]);
    const holder = new Holder(plan, new HandlingContext(execution, undefined, this.#settings), false);
    this.#holders.set(identity, holder);
    if (plan.isFollowed) this.#watch.watch(holder);
    return holder;
  }

  /** What was decided before routing for the same request: by another route of it, or for a GraphQL operation. */
  #decisionBeforeRouting({ plan, context }: Holder): Promise<boolean> | undefined {
    if (plan.middleware === null || typeof context.request !== 'object') return undefined;
    return this.#holders.get(rawRequest(context.request))?.decisions.middleware;
  }

  /**
   * Takes the permits of a phase, once for a handling.
   *
   * @returns `true` when the handling may go on, `false` when its response has been sent already. It rejects
   * with what the client is to be told, or with an error of the application's code.
   */
  pass(phase: Phase, holder: Holder): Promise<boolean> {
    const acquisition = holder.plan[phase];
    if (acquisition === null) return Promise.resolve(true);
    return (holder.decisions[phase] ??= this.#decide(acquisition, holder));
  }

  /** Whether the application ends. */
  get isShuttingDown(): boolean {
    return this.#isShuttingDown;
  }

  /** Answers everything that waits, and everything that comes from now on. */
  onModuleDestroy(): void {
    this.#isShuttingDown = true;
    for (const holder of this.#waiting) holder.context.abort(new ShutdownError());
  }

  async #decide(acquisition: Acquisition, holder: Holder): Promise<boolean> {
    const { context } = holder;
    throwIfOver(context);
    const applies = acquisition.when === undefined || (await acquisition.when(context));
    const set = applies ? acquisition.set : acquisition.otherwise;
    if (set === null) return true;
    const permits = applies ? await permitsOf(acquisition, context) : 1;
    const choice = set.choosePartitions(context);
    if (choice !== undefined) await choice;
    const lease = await this.#ask(acquisition, { set, permits }, holder);
    if (!lease.isAcquired) return this.#refuse(acquisition, { set, lease }, holder);
    if (context.type === 'http') {
      const fields = rateLimitFields(set, lease);
      if (fields !== undefined) writeRateLimit(context.response, fields, holder.hasLease);
    }
    set.noteGranted(permits);
    holder.keep(new Grant(lease, set, permits));
    throwIfOver(context);
    return true;
  }

  async #ask(acquisition: Acquisition, { set, permits }: Question, holder: Holder): Promise<RateLimitLease> {
    if (this.#isShuttingDown) return this.#refusals.answerShutdown(set, new AboveLimitLease(), holder);
    try {
      if (!set.mayWait) return await set.limiter.acquire(holder.context, permits);
      return await this.#askAndWait({ set, permits }, acquisition.maxWaitMs, holder);
    } catch (error) {
      const isShutdown =
        error instanceof ShutdownError || (error instanceof ObjectDisposedError && this.#isShuttingDown);
      if (isShutdown) return this.#refusals.answerShutdown(set, new AboveLimitLease(), holder);
      if (isAboveLimit(error)) return new AboveLimitLease();
      throw error;
    }
  }

  async #askAndWait(
    { set, permits }: Question,
    maxWaitMs: number | undefined,
    holder: Holder,
  ): Promise<RateLimitLease> {
    const options: AcquireOptions = {
      signal: holder.context.signal,
      maxWaitMs: this.#waiting.size < this.#settings.maxQueuedRequests ? maxWaitMs : 0,
    };
    this.#waiting.add(holder);
    holder.beginWait();
    set.noteQueued(1);
    try {
      return await set.limiter.acquire(holder.context, permits, options);
    } finally {
      holder.endWait();
      set.noteQueued(-1);
      this.#waiting.delete(holder);
    }
  }

  #refuse(
    acquisition: Acquisition,
    { set, lease }: { set: PolicySet; lease: RateLimitLease },
    holder: Holder,
  ): Promise<false> {
    const isEnd = this.#isShuttingDown && lease.getMetadata('REASON_PHRASE') === LIMITER_DISPOSED;
    if (isEnd) this.#refusals.answerShutdown(set, lease, holder);
    else set.refusingPolicy(lease).counters.refused++;
    return this.#refusals.answer({ acquisition, set, lease }, holder);
  }
}

interface Question {
  readonly set: PolicySet;
  readonly permits: number;
}

async function permitsOf({ endpoint, permitCount }: Acquisition, context: HandlingContext): Promise<number> {
  if (typeof permitCount === 'number') return permitCount;
  const permits: unknown = await permitCount(context);
  if (isCount(permits)) return permits;
  throw new InvalidDecisionError(
    `${endpoint}: permitCount must return an integer of at least 0, but returned ${shown(permits)}.`,
  );
}

/** Whatever was awaited, the client may have left meanwhile: its handler must not run. */
function throwIfOver({ abortReason }: HandlingContext): void {
  if (abortReason !== undefined) throw abortReason;
}

function isAboveLimit(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ERR_RL_PERMIT_COUNT_ABOVE_LIMIT';
}
