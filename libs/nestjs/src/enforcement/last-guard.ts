import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { ENFORCEMENT } from '../module/tokens.js';
import type { Enforcement } from './enforcement.js';
import { answerOf } from '../holding/verdict.js';
import { unanswered } from './unanswered.js';

/**
 * Takes the permits of the phase `'interceptor'` as the last of all guards. Where no interceptor of the application
 * runs before ours and nothing is held, that is the same moment, without the costs of an interceptor.
 */
@Injectable()
export class LastGuard implements CanActivate {
  readonly #enforcement: Enforcement;

  constructor(@Inject(ENFORCEMENT) enforcement: Enforcement) {
    this.#enforcement = enforcement;
  }

  canActivate(execution: ExecutionContext): boolean | Promise<boolean> {
    if (execution.getType() !== 'http') return true;
    const plan = this.#enforcement.planOf(execution);
    if (plan === null) return true;
    return answerOf(this.#enforcement.judgeRequest('interceptor', execution, plan), unanswered);
  }
}
