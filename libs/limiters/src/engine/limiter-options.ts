import { requireBoolean, requireClock, requireInteger, requireOneOf } from '../checks.js';
import type { Clock } from '../clock.js';
import type { QueueProcessingOrder } from '../queue/wait-queue.js';
import type { LimiterSettings } from './limiter-plan.js';

/** The options that every limiter has. */
export interface LimiterOptions {
  /** The most permits that waiting requests may ask for together, an integer of at least 0. @defaultValue 0: nobody waits */
  readonly queueLimit?: number | undefined;
  /** Who is served first. @defaultValue `'oldestFirst'` */
  readonly queueProcessingOrder?: QueueProcessingOrder | undefined;
  /** The source of time. @defaultValue the monotonic clock of the process */
  readonly clock?: Clock | undefined;
}

/** The options that every limiter has whose permits come back with time. */
export interface ReplenishingLimiterOptions extends LimiterOptions {
  /** `false`: nothing comes back until `tryReplenish()` is called. @defaultValue true */
  readonly autoReplenishment?: boolean | undefined;
}

/** Checks and copies the options that every limiter has. */
export function readCoreOptions(owner: string, options: LimiterOptions): LimiterSettings {
  const { queueLimit, queueProcessingOrder, clock } = options;
  return {
    queueLimit: queueLimit === undefined ? 0 : requireInteger(owner, 'queueLimit', queueLimit, [0]),
    queueProcessingOrder: requireOneOf(owner, 'queueProcessingOrder', queueProcessingOrder, [
      'oldestFirst',
      'newestFirst',
    ]),
    clock: requireClock(owner, clock),
  };
}

/** Checks `autoReplenishment` and turns it round. */
export function readIsManual(owner: string, options: ReplenishingLimiterOptions): boolean {
  return !requireBoolean(owner, 'autoReplenishment', options.autoReplenishment, true);
}
