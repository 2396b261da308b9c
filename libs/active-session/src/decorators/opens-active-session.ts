import { UseInterceptors } from '@nestjs/common';
import { ActiveSessionInterceptor } from './active-session.interceptor.js';
import type { OpensActiveSessionOptions } from './opening-metadata.js';
import { markAsOpening } from './opening-metadata.js';

/**
 * Each request of the handler opens a session in its group. Where sessions are limited, the permit is asked for
 * before the handler runs. A session whose request fails ends with the response.
 */
export function OpensActiveSession(options: OpensActiveSessionOptions = {}): MethodDecorator {
  const intercept = UseInterceptors(ActiveSessionInterceptor) as MethodDecorator;
  return (target: object, key: string | symbol, descriptor: PropertyDescriptor) => {
    markAsOpening(descriptor.value as object, { ...options, named: options.named ?? false });
    intercept(target, key, descriptor);
  };
}
