import { Logger } from '@nestjs/common';
import type { Clock } from '@ratelease/limiters';
import { systemClock } from '@ratelease/limiters';
import { ActiveSessionError } from '../errors/active-session-error.js';
import type { GroupStrategy, SessionStrategy } from '../requests/strategies.js';
import { defaultSessionStrategy } from '../requests/strategies.js';
import type { SessionSettings } from '../sessions/active-session.js';

/** Options of `ActiveSessionModule`. */
export interface ActiveSessionModuleOptions {
  /** Which group a request belongs to: `byUserId()`, `byCookieSession()`, `bySessionHeader(name)` or a function. */
  readonly group: GroupStrategy;
  /** Which session a request names. @defaultValue the route parameter `sessionId`, else the header `active-session` */
  readonly session?: SessionStrategy | undefined;
  /** Milliseconds, above 0, without request and work after which a session ends. @defaultValue 20 minutes */
  readonly idleTimeoutMs?: number | undefined;
  /** Milliseconds, above 0, after which a session ends in any case. @defaultValue 24 hours */
  readonly maxLifetimeMs?: number | undefined;
  /** Milliseconds, at least 0, that the work of an ended session has before what the session owns is disposed. @defaultValue 10 seconds */
  readonly workGraceMs?: number | undefined;
  /** The source of time. @defaultValue the monotonic clock of the process */
  readonly clock?: Clock | undefined;
  /** Told of errors that nobody awaits: a resource that fails to end. @defaultValue they are logged */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The options, checked and with their defaults. */
export interface ActiveSessionSettings extends SessionSettings {
  readonly group: GroupStrategy;
  readonly session: SessionStrategy;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const PLACE = 'ActiveSessionModule.forRoot()';

/**
 * Checks the options.
 *
 * @throws ActiveSessionError `ERR_RL_INVALID_OPTION` - for what is missing or out of range.
 */
export function readActiveSessionOptions(given: ActiveSessionModuleOptions): ActiveSessionSettings {
  const { group, session = defaultSessionStrategy, clock = systemClock } = given ?? {};
  const { idleTimeoutMs = 20 * MINUTE_MS, maxLifetimeMs = DAY_MS, workGraceMs = 10_000 } = given ?? {};
  const { onError = (error: unknown) => new Logger('ActiveSessions').error(error) } = given ?? {};
  check('group', 'a function such as byUserId()', group, isFunction(group));
  check('session', "a function such as sessionByParam('exportId')", session, isFunction(session));
  check('onError', 'a function', onError, isFunction(onError));
  check('clock', 'an object with the methods now and setTimer', clock, isClock(clock));
  checkDuration('idleTimeoutMs', idleTimeoutMs, Number.MIN_VALUE);
  checkDuration('maxLifetimeMs', maxLifetimeMs, Number.MIN_VALUE);
  checkDuration('workGraceMs', workGraceMs, 0);
  return { group, session, clock, onError, idleTimeoutMs, maxLifetimeMs, workGraceMs };
}

function isClock(value: unknown): boolean {
  const { now, setTimer } = (value ?? {}) as Record<string, unknown>;
  return isFunction(now) && isFunction(setTimer);
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

function checkDuration(option: string, value: unknown, least: number): void {
  const allowed = `a number of milliseconds ${least === 0 ? 'of at least' : 'above'} 0`;
  check(option, allowed, value, typeof value === 'number' && value >= least);
}

function check(option: string, allowed: string, value: unknown, isAllowed: boolean): void {
  if (isAllowed) return;
  throw new ActiveSessionError(
    'ERR_RL_INVALID_OPTION',
    `${PLACE}: ${option} must be ${allowed}, but got ${typeof value === 'object' && value !== null ? 'an object' : String(value)}.`,
  );
}
