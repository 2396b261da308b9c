import type { ExecutionContext } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { handlingIdentity } from '../context/context-source.js';
import { HandlingContext } from '../context/handling-context.js';
import { OutsideExecution } from '../context/outside-execution.js';
import type { RateLimitingContextType } from '../context/rate-limiting-context.js';
import type { Acquisition, EndpointPlan, Phase } from '../endpoints/endpoint-plan.js';
import type { PlanBook } from '../endpoints/plan-book.js';
import { ConnectionWatch } from '../holding/connection-watch.js';
import { PeerWatch } from '../holding/peer-watch.js';
import { HandlingStore } from '../holding/handling-store.js';
import { Holder } from '../holding/holder.js';
import type { Decision, Verdict } from '../holding/verdict.js';
import { decisionOf, FailedDecision, isFailed } from '../holding/verdict.js';
import { rawRequest } from '../http/raw-http.js';
import type { Settings } from '../module/settings.js';
import { PLANS, SETTINGS, VISIBILITY } from '../module/tokens.js';
import type { Visibility } from '../visibility/visibility.js';
import { answerPassedOn, asTransportError } from '../transports/transport-refusal.js';
import { Decider } from './decider.js';

/** Takes permits for the requests of one application, and gives them back at the end of their work. */
@Injectable()
export class Enforcement {
  readonly #settings: Settings;
  readonly #plans: PlanBook;
  readonly #decider: Decider;
  readonly #watch = new ConnectionWatch();
  readonly #peers = new PeerWatch();
  readonly #holders = new HandlingStore();

  constructor(
    @Inject(SETTINGS) settings: Settings,
    @Inject(PLANS) plans: PlanBook,
    @Inject(VISIBILITY) visibility: Visibility,
  ) {
    this.#settings = settings;
    this.#plans = plans;
    this.#decider = new Decider(settings, visibility);
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
    if (known instanceof Holder) {
      if (known.plan === plan) return known;
      if (known.plan === this.#plans.planBeforeRouting) {
        known.route(plan, execution);
        return known;
      }
      // A request can fall through to the next matching route: that is another handling.
      known.passOn();
    }
    const holder = this.#newHolder(execution, plan, type !== 'http');
    if (plan.middleware !== null) holder.decisions.middleware = this.#decisionBeforeRouting(holder);
    const { briefPhase } = plan;
    if (briefPhase !== null && known === plan) holder.decisions[briefPhase] = true;
    this.#holders.set(identity, holder);
    return holder;
  }

  #newHolder(execution: ExecutionContext, plan: EndpointPlan, isClosed: boolean): Holder {
    const context = new HandlingContext(execution, plan.handler, this.#settings);
    return new Holder(plan, context, isClosed, context.type === 'http' ? this.#watch : this.#peers);
  }

  /** The holder of a request that no handler was chosen for yet. */
  holderBeforeRouting(request: object, response: object, plan: EndpointPlan): Holder {
    const identity = rawRequest(request);
    const known = this.#holders.get(identity);
    if (known instanceof Holder) return known;
    const execution = new OutsideExecution('http', [request, response]);
    const holder = new Holder(
      plan,
      new HandlingContext(execution, undefined, this.#settings),
      false,
      this.#watch,
    );
    this.#holders.set(identity, holder);
    return holder;
  }

  /** The holder of a connection, which lives until it is told that the client has left. */
  holderOfConnection(execution: ExecutionContext, plan: EndpointPlan): Holder {
    return this.#newHolder(execution, plan, false);
  }

  /** What was decided before routing for the same request: by another route of it, or for a GraphQL operation. */
  #decisionBeforeRouting({ context }: Holder): Holder['decisions']['middleware'] {
    if (typeof context.request !== 'object' || context.request === null) return undefined;
    const known = this.#holders.get(rawRequest(context.request));
    return known instanceof Holder ? known.decisions.middleware : undefined;
  }

  /**
   * Takes the permits of a phase, once for a handling.
   *
   * @returns `true` when the handling may go on, `false` when its response has been sent already, or the promise
   * of that. It throws (or rejects with) what the client is to be told, or an error of the application's code.
   */
  pass(phase: Phase, holder: Holder): Decision {
    return decisionOf(this.judge(phase, holder));
  }

  /** The same, with the error handed up instead of thrown. */
  judge(phase: Phase, holder: Holder): Verdict {
    const acquisition = holder.plan[phase];
    if (acquisition === null) return true;
    return (holder.decisions[phase] ??= this.#judge(acquisition, holder));
  }

  /** The same for a guard, over HTTP. What is decided at once, and holds nothing, leaves next to nothing behind. */
  judgeRequest(phase: Phase, execution: ExecutionContext, plan: EndpointPlan): Verdict {
    if (plan.briefPhase !== phase) return this.judge(phase, this.holderOf(execution, plan));
    const identity = handlingIdentity(execution, 'http');
    const known = this.#holders.get(identity);
    if (known === plan) return true;
    if (known instanceof Holder) {
      if (known.plan === plan) return this.judge(phase, known);
      if (known.plan !== this.#plans.planBeforeRouting) known.passOn();
    }
    const holder = this.#newHolder(execution, plan, false);
    const verdict = this.judge(phase, holder);
    if (verdict === true && !holder.isWatched) this.#holders.set(identity, plan);
    // A refusal ends the request: nobody asks for its holder any more.
    else if (!isFailed(verdict)) this.#holders.set(identity, holder);
    return verdict;
  }

  #judge(acquisition: Acquisition, holder: Holder): Verdict {
    try {
      return this.#decide(acquisition, holder);
    } catch (error) {
      return new FailedDecision(error);
    }
  }

  #decide(acquisition: Acquisition, holder: Holder): Verdict {
    if (holder.context.type === 'http') return this.#decider.decide(acquisition, holder);
    return this.#decideElsewhere(acquisition, holder);
  }

  /** Refuses with the exception that the transport understands. */
  async #decideElsewhere(acquisition: Acquisition, holder: Holder): Promise<boolean> {
    try {
      return await decisionOf(this.#decider.decide(acquisition, holder));
    } catch (error) {
      const told = await asTransportError(error, holder.context);
      if (answerPassedOn(told, holder.context)) return false;
      throw told;
    }
  }

  /** Whether the application ends. */
  get isShuttingDown(): boolean {
    return this.#decider.isShuttingDown;
  }

  /** Answers everything that waits, and everything that comes from now on. */
  shutDown(): void {
    this.#decider.shutDown();
  }
}
