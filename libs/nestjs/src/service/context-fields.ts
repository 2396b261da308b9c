import type {
  ApplicationValue,
  RateLimitingContext,
  RateLimitingContextType,
} from '../context/rate-limiting-context.js';
import type { ContextSettings } from '../context/handling-context.js';
import { InvalidContextError } from '../errors/invalid-context-error.js';
import { shown } from '../errors/shown.js';
import { HandlingContext } from '../context/handling-context.js';
import { OutsideExecution } from '../context/outside-execution.js';
import type { RateLimitingEvent } from '../visibility/events.js';

/** What a context outside handlers is made of: what the policy's key needs. */
export interface ContextFields {
  /** As `request.user`. */
  readonly user?: ApplicationValue;
  /** The client's address. */
  readonly clientIp?: string | undefined;
  /** Fields of the request, as lower-case names, for `byHeader()`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A request that there is after all; then the other fields are read from it. */
  readonly request?: ApplicationValue;
  /** Its response. */
  readonly response?: ApplicationValue;
  /** @defaultValue `'http'` */
  readonly type?: RateLimitingContextType | undefined;
}

/**
 * Makes a context of fields: key functions find them where requests have them.
 *
 * @param place - the method that got them, for the message.
 * @throws InvalidContextError `ERR_RL_INVALID_ARGUMENT` - for what has no fields.
 */
export function contextOf(fields: ContextFields, settings: ContextSettings, place: string): HandlingContext {
  assertObject(fields, place, 'an object with what the key needs, such as { user } or { clientIp }');
  const { user, clientIp, headers = {}, response, type = 'http' } = fields;
  const request: unknown = fields.request ?? { user, ip: clientIp, headers };
  return new HandlingContext(
    new OutsideExecution(type, argumentsOf(type, request, response)),
    undefined,
    settings,
  );
}

/** The place where Nest has the request depends on the type. */
function argumentsOf(type: RateLimitingContextType, request: unknown, response: unknown): unknown[] {
  if (type === 'rpc') return [undefined, request];
  if (type === 'graphql') return [undefined, {}, { req: request, res: response }];
  return [request, response];
}

/**
 * What policies need of a context, from code that may have another one at hand, or none.
 *
 * @param place - the method that got it, for the message.
 * @throws InvalidContextError `ERR_RL_INVALID_ARGUMENT` - for what is no context of the module.
 */
export function checkedContext(context: RateLimitingContext, place: string): HandlingContext {
  const { choosePartition } = (context ?? {}) as Partial<HandlingContext>;
  if (typeof choosePartition === 'function') return context as HandlingContext;
  throw new InvalidContextError(
    `${place} needs a RateLimitingContext, of RateLimitingService.createContext() or as policies receive it, but got ` +
      `${shown(context)}.`,
  );
}

/**
 * An event of the diagnostics channels, from code that may have another one at hand, or none.
 *
 * @param place - the method that got it, for the message.
 * @throws InvalidContextError `ERR_RL_INVALID_ARGUMENT` - for what is no such event.
 */
export function checkedEvent(event: RateLimitingEvent, place: string): RateLimitingEvent {
  const { context, policies } = (event ?? {}) as Partial<RateLimitingEvent>;
  if (typeof context === 'object' && context !== null && Array.isArray(policies)) return event;
  throw new InvalidContextError(
    `${place} needs a message of a channel such as ratelease:refused, but got ${shown(event)}.`,
  );
}

/**
 * @param place - the method that got it, for the message.
 * @param needed - what belongs there, in words.
 * @throws InvalidContextError `ERR_RL_INVALID_ARGUMENT` - for what has no properties of its own.
 */
export function assertObject(given: object, place: string, needed: string): void {
  if (typeof given === 'object' && (given as unknown) !== null) return;
  throw new InvalidContextError(`${place} needs ${needed}, but got ${shown(given)}.`);
}
