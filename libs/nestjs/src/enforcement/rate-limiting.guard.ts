import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { ENFORCEMENT } from '../module/tokens.js';
import type { Holder } from '../holding/holder.js';
import type { Enforcement } from './enforcement.js';
import type { EndpointPlan } from '../endpoints/endpoint-plan.js';
import type { Verdict } from '../holding/verdict.js';
import { answerOf } from '../holding/verdict.js';
import { unanswered } from './unanswered.js';

/**
 * Takes the permits of endpoints in the phase `'guard'`. `forRoot` binds it after the root module's own guards;
 * to have limits before them, list it first there: bound twice, it acquires once.
 */
@Injectable()
export class RateLimitingGuard implements CanActivate {
  readonly #enforcement: Enforcement;

  /** @internal Nest makes it. */
  constructor(@Inject(ENFORCEMENT) enforcement: Enforcement) {
    this.#enforcement = enforcement;
  }

  canActivate(execution: ExecutionContext): boolean | Promise<boolean> {
    const plan = this.#enforcement.planOf(execution);
    // Only HTTP tells its end to a guard; elsewhere the interceptor takes the permits, and gives them back.
    if (plan === null || (plan.guard ?? plan.middleware) === null) return true;
    if (execution.getType() !== 'http') return true;
    return answerOf(this.#judge(execution, plan), unanswered);
  }

  #judge(execution: ExecutionContext, plan: EndpointPlan): Verdict {
    if (plan.middleware === null) return this.#enforcement.judgeRequest('guard', execution, plan);
    const holder = this.#enforcement.holderOf(execution, plan);
    return isLate(holder) ? this.#makeUp(holder) : this.#enforcement.judge('guard', holder);
  }

  async #makeUp(holder: Holder): Promise<boolean> {
    return (
      (await this.#enforcement.pass('middleware', holder)) && (await this.#enforcement.pass('guard', holder))
    );
  }
}

/** A request that the middleware took for one of a disabled route, and that has come elsewhere. */
function isLate({ plan, decisions }: Holder): boolean {
  return plan.middleware !== null && decisions.middleware === undefined;
}
