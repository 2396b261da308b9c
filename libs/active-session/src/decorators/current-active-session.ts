import type { ExecutionContext } from '@nestjs/common';
import { createParamDecorator, NotFoundException, UseInterceptors } from '@nestjs/common';
import { handlingOf } from '../requests/handling.js';
import { foundSession } from '../requests/request-sessions.js';
import type { ActiveSession } from '../sessions/active-session.js';
import { ActiveSessionInterceptor } from './active-session.interceptor.js';

/** Options of {@link CurrentActiveSession}. */
export interface CurrentActiveSessionOptions {
  /** `true`: a request without a living session gets `undefined`, instead of 404. @defaultValue false */
  readonly optional?: boolean | undefined;
}

const sessionParameter = createParamDecorator(
  (
    { optional = false }: CurrentActiveSessionOptions,
    execution: ExecutionContext,
  ): ActiveSession | undefined => {
    const session = foundSession(handlingOf(execution));
    if (session?.isAvailable === true) return session;
    if (optional) return undefined;
    throw new NotFoundException('There is no such session, or it has ended.');
  },
);

/** The session of the request, as a parameter of its handler; 404 where there is none. */
export function CurrentActiveSession(options: CurrentActiveSessionOptions = {}): ParameterDecorator {
  const parameter = sessionParameter(options);
  const intercept = UseInterceptors(ActiveSessionInterceptor) as MethodDecorator;
  return (target: object, key: string | symbol | undefined, index: number) => {
    parameter(target, key, index);
    const descriptor = key === undefined ? undefined : Object.getOwnPropertyDescriptor(target, key);
    if (descriptor !== undefined) intercept(target, key!, descriptor);
  };
}
