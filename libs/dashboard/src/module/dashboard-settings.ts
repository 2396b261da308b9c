import type { CanActivate, Type } from '@nestjs/common';
import type { Clock } from '@ratelease/limiters';
import { systemClock } from '@ratelease/limiters';
import { inspect } from 'node:util';
import { RateLimitingDashboardError } from '../errors/rate-limiting-dashboard-error.js';
import type { KeyDisplay } from '../recording/key-display.js';
import { KEY_DISPLAYS } from '../recording/key-display.js';
import type { Recording } from '../stream/live-stream.js';
import type { RateLimitingDashboardOptions } from './dashboard-options.js';

/** Options that were checked, with their defaults. */
export interface DashboardSettings {
  readonly guards: readonly (Type<CanActivate> | CanActivate)[];
  readonly path: string;
  readonly title: string;
  readonly keys: KeyDisplay;
  readonly recording: Recording;
  readonly scripts: readonly string[];
  readonly clock: Clock;
}

const PLACE = 'RateLimitingDashboardModule.forRoot()';
const NAMES = ['guards', 'imports', 'path', 'title', 'keys', 'recording', 'scripts', 'clock'];
const RECORDINGS: readonly Recording[] = ['always', 'whileWatched'];

/**
 * Reads the options.
 *
 * @throws RateLimitingDashboardError - for what they may not be.
 */
export function readSettings(options: RateLimitingDashboardOptions): DashboardSettings {
  const given: Partial<Record<string, unknown>> = { ...options };
  const unknown = Object.keys(given).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) {
    const message = `${PLACE} has no option ${JSON.stringify(unknown)}. It has ${NAMES.join(', ')}.`;
    throw new RateLimitingDashboardError('ERR_RL_UNKNOWN_OPTION', message);
  }
  const { path = 'rate-limits', title = 'Rate limits', scripts = [], clock = systemClock } = options;
  if (typeof path !== 'string') throw invalid('path', path, 'a text such as "rate-limits"');
  if (typeof title !== 'string') throw invalid('title', title, 'a text');
  if (!isTexts(scripts)) throw invalid('scripts', scripts, 'an array of addresses');
  return {
    guards: readGuards(options.guards),
    path,
    title,
    scripts,
    clock,
    keys: oneOf('keys', options.keys ?? 'hashed', KEY_DISPLAYS),
    recording: oneOf('recording', options.recording ?? 'whileWatched', RECORDINGS),
  };
}

function readGuards(guards: unknown): DashboardSettings['guards'] {
  if (guards === 'unguarded') return [];
  if (guards === undefined || (Array.isArray(guards) && guards.length === 0)) {
    throw new RateLimitingDashboardError(
      'ERR_RL_DASHBOARD_UNGUARDED',
      `${PLACE} needs guards: the page shows who uses the application, and how much. Name the guards that let your ` +
        "operators in, such as guards: [OperatorGuard], or write guards: 'unguarded' to show it to everybody.",
    );
  }
  if (Array.isArray(guards) && guards.every(isGuard)) return guards;
  throw invalid('guards', guards, "an array of guards (classes or instances), or 'unguarded'");
}

function isGuard(value: unknown): value is Type<CanActivate> | CanActivate {
  const target: unknown = typeof value === 'function' ? value.prototype : value;
  return typeof (target as Partial<CanActivate> | null | undefined)?.canActivate === 'function';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function oneOf<T extends string>(name: string, value: unknown, allowed: readonly T[]): T {
  if (allowed.includes(value as T)) return value as T;
  throw invalid(name, value, `one of ${allowed.map((each) => JSON.stringify(each)).join(', ')}`);
}

function invalid(name: string, value: unknown, allowed: string): RateLimitingDashboardError {
  const shown = inspect(value, { depth: 0, breakLength: Infinity }).slice(0, 80);
  return new RateLimitingDashboardError(
    'ERR_RL_INVALID_OPTION',
    `${PLACE}: ${name} must be ${allowed}, but is ${shown}.`,
  );
}
