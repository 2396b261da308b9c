import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Observable } from 'rxjs';
import type { EndpointPlan, Phase } from '../endpoints/endpoint-plan.js';
import { isMessage } from '../holding/held-work.js';
import type { Holder } from '../holding/holder.js';
import { runningHandling } from '../holding/running-handling.js';
import { ENFORCEMENT } from '../module/tokens.js';
import type { Enforcement } from './enforcement.js';
import { LimitedHandling } from './limited-handling.js';

/**
 * Takes the permits of endpoints in the phase `'interceptor'`, and follows the handler to its end, for permits
 * of every phase.
 */
@Injectable()
export class RateLimitingInterceptor implements NestInterceptor {
  readonly #enforcement: Enforcement;

  /** @internal Nest makes it. */
  constructor(@Inject(ENFORCEMENT) enforcement: Enforcement) {
    this.#enforcement = enforcement;
  }

  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const plan = this.#enforcement.planOf(execution);
    if (plan === null || isPassed(plan)) return next.handle();
    const holder = this.#enforcement.holderOf(execution, plan);
    const phases = phasesOf(holder);
    const handle = isKnownToMethod(holder)
      ? () => runningHandling().run(holder, () => next.handle())
      : () => next.handle();
    return new Observable((subscriber) => {
      const handling = new LimitedHandling(holder, subscriber, handle);
      handling.start(phases, (phase) => this.#enforcement.judge(phase, holder));
      return handling;
    });
  }
}

/** Nothing is taken here, and nothing held. */
function isPassed({ middleware, interceptor, args, condition, isFollowed }: EndpointPlan): boolean {
  return middleware === null && interceptor === null && args === null && condition === null && !isFollowed;
}

/** Whether the method itself asks for what it belongs to: for permits after pipes, and to be followed to its end. */
function isKnownToMethod({ plan, context }: Holder): boolean {
  return (plan.args ?? plan.condition) !== null || (plan.isFollowed && isMessage(context.type));
}

/** Only HTTP lets a guard acquire: elsewhere its permits are taken here, with those of the interceptor. */
function phasesOf({ plan, context, decisions }: Holder): readonly Phase[] {
  const phases: Phase[] = [];
  if (plan.middleware !== null && decisions.middleware === undefined) phases.push('middleware');
  if (plan.guard !== null && context.type !== 'http') phases.push('guard');
  if (plan.interceptor !== null) phases.push('interceptor');
  return phases;
}
