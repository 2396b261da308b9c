import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { ENFORCEMENT } from '../module/tokens.js';
import type { Holder } from '../holding/holder.js';
import type { Enforcement } from './enforcement.js';
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
    const holder = this.#enforcement.holderOf(execution, plan);
    const decision = isLate(holder) ? this.#makeUp(holder) : this.#enforcement.pass('guard', holder);
    if (decision instanceof Promise) return decision.then((goesOn) => goesOn || unanswered());
    return decision || unanswered();
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
