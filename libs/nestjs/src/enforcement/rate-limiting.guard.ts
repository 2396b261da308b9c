import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { ENFORCEMENT } from '../module/tokens.js';
import type { Enforcement } from './enforcement.js';
import { unanswered } from './unanswered.js';

/**
 * Takes the permits of endpoints in the phase `'guard'`. `forRoot` binds it after the root module's own guards;
 * to have limits before them, list it first there: bound twice, it acquires once.
 */
@Injectable()
export class RateLimitingGuard implements CanActivate {
  readonly #enforcement: Enforcement;

  constructor(@Inject(ENFORCEMENT) enforcement: Enforcement) {
    this.#enforcement = enforcement;
  }

  canActivate(execution: ExecutionContext): boolean | Promise<boolean> {
    const plan = this.#enforcement.planOf(execution);
    // Only HTTP tells its end to a guard; elsewhere the interceptor takes the permits, and gives them back.
    if (plan === null || plan.guard === null || execution.getType() !== 'http') return true;
    const decision = this.#enforcement.pass('guard', this.#enforcement.holderOf(execution, plan));
    return decision.then((goesOn) => (goesOn ? true : unanswered()));
  }
}
