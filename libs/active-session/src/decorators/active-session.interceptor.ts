import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { ForbiddenException, Inject, Injectable } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { ACTIVE_SESSIONS } from '../module/tokens.js';
import type { ActiveSessions } from '../sessions/active-sessions.js';
import { openingOf } from './opening-metadata.js';

/** Finds, or opens, the session of a request before its handler runs. The decorators bind it. */
@Injectable()
export class ActiveSessionInterceptor implements NestInterceptor {
  readonly #sessions: ActiveSessions;

  constructor(@Inject(ACTIVE_SESSIONS) sessions: ActiveSessions) {
    this.#sessions = sessions;
  }

  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const session = this.#sessions.of(execution);
    if (session === undefined && openingOf(execution.getHandler()) !== undefined) {
      throw new ForbiddenException('This request belongs to no group in which it could open a session.');
    }
    return next.handle();
  }
}
