import type { ApplicationValue, RateLimitingContext } from '../context/rate-limiting-context.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { assertEndpoint } from './decorated-place.js';
import { checkOptions } from './decorator-options.js';
import { CONCURRENCY, leaveMark, markOf } from './marks.js';

/**
 * An argument of a handler that knows whether its request is one of the expensive ones. Write `isLimit` as a
 * getter of the class: only what a class provides counts, never a property that came in with the request.
 */
export interface RateLimitable {
  /** Whether the request needs a permit. */
  readonly isLimit: boolean;
}

/** Options of {@link ConcurrencyLimit}. */
export interface ConcurrencyLimitOptions {
  /** Whether a request needs a permit, from the handler's arguments after pipes; beside {@link RateLimitable}. */
  readonly when?: ((...args: ApplicationValue[]) => boolean | Promise<boolean>) | undefined;
  /** What a refused client is told: a text, or a function for the endpoint's name or the client's language. */
  readonly message?: RejectionMessage | undefined;
}

const NAME = '@ConcurrencyLimit()';
const KNOWN = ['when', 'message'];

/** The message of a refusal. */
export type RejectionMessage = string | ((context: RateLimitingContext) => string);

/** What the decorator leaves on a method. */
export interface ConcurrencyMark extends ConcurrencyLimitOptions {
  readonly limit: number;
}

/**
 * Bounds how many of the expensive requests of a handler run at once: those with an argument that is
 * {@link RateLimitable} and says `isLimit`, or for which `when` is true. It looks at the arguments after pipes,
 * and refuses at once: nobody waits. All other requests pass untouched.
 *
 * @param limit - how many at once, an integer of at least 1. @defaultValue 1
 * @throws RateLimitingConfigurationError `ERR_RL_INVALID_ENDPOINT` - when it stands on something else than a method of instances;
 * `ERR_RL_UNKNOWN_OPTION`, `ERR_RL_INVALID_OPTION` - for options that would do nothing.
 */
export function ConcurrencyLimit(limit: number = 1, options: ConcurrencyLimitOptions = {}): MethodDecorator {
  checkOptions(options, { decorator: NAME, behind: 'the limit', known: KNOWN });
  const mark: ConcurrencyMark = { limit, ...options };
  return (target: object, key: string | symbol, descriptor?: PropertyDescriptor) => {
    assertEndpoint(NAME, [target, key, descriptor]);
    if (descriptor === undefined) {
      throw new RateLimitingConfigurationError(
        'ERR_RL_INVALID_ENDPOINT',
        `${NAME} stands on ${(target as { name?: string }).name ?? 'a class'}, but belongs on a method: it limits one handler.`,
      );
    }
    leaveMark(CONCURRENCY, mark, [target, key, descriptor]);
  };
}

/** The mark of a method, where it has one of its own. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function concurrencyMarkOf(controller: Function, handler: Function): ConcurrencyMark | undefined {
  return markOf(CONCURRENCY, controller, handler) as ConcurrencyMark | undefined;
}
