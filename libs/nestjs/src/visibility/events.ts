import { channel } from 'node:diagnostics_channel';
import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import type { RejectionReason } from '../rejection/rate-limit-rejected.exception.js';

/** What all messages tell. */
export interface RateLimitingEvent {
  /** The policies that were asked together, by name; `global` for the global limiter. */
  readonly policies: readonly string[];
  /** The handler, such as `ReportsController.list`; `RateLimitingService` for code outside handlers. */
  readonly endpoint: string;
  /** How many permits were asked for. */
  readonly permits: number;
  /** The same number in all messages of one acquisition, and in no other of the process. */
  readonly acquisition: number;
  /** The request. It knows keys and addresses: what goes further than this process is your decision. */
  readonly context: RateLimitingContext;
}

/** The message of `ratelease:acquired`: permits were granted. */
export interface AcquiredEvent extends RateLimitingEvent {
  /** Milliseconds in the queue; 0 without a wait. */
  readonly waitedMs: number;
}

/** The message of `ratelease:refused`: a request was refused. */
export interface RefusedEvent extends RateLimitingEvent {
  /** The policy that refused. */
  readonly policyName: string;
  /** Which part refused. */
  readonly reason: RejectionReason;
  /** Milliseconds until the same request could pass, where somebody knows. */
  readonly retryAfterMs: number | undefined;
  /** Milliseconds in the queue; 0 without a wait. */
  readonly waitedMs: number;
  /** Whether the request was let through all the same: the policy is in shadow mode. */
  readonly isShadow: boolean;
}

/** The message of `ratelease:queued`: a request begins to wait. */
export type QueuedEvent = RateLimitingEvent;

/** The message of `ratelease:canceled`: nobody waits for the answer any more, so that there is none. */
export interface CanceledEvent extends RateLimitingEvent {
  /** Milliseconds in the queue; 0 without a wait. */
  readonly waitedMs: number;
}

/** The message of `ratelease:released`: granted permits went back, or the request of a rate has ended. */
export interface ReleasedEvent extends RateLimitingEvent {
  /** Milliseconds since the grant. */
  readonly heldMs: number;
}

/** The message of `ratelease:failed`: limits failed, and the request was let through without them. */
export interface FailedEvent {
  /** The policies that the request was let through without, by name. */
  readonly policies: readonly string[];
  /** What was thrown. */
  readonly error: unknown;
  /** The request. */
  readonly context: RateLimitingContext;
}

/** The channels, by what happens. */
export const CHANNELS = {
  acquired: channel('ratelease:acquired'),
  refused: channel('ratelease:refused'),
  queued: channel('ratelease:queued'),
  canceled: channel('ratelease:canceled'),
  released: channel('ratelease:released'),
  failed: channel('ratelease:failed'),
} as const;

const OF_ACQUISITIONS = [
  CHANNELS.acquired,
  CHANNELS.refused,
  CHANNELS.queued,
  CHANNELS.canceled,
  CHANNELS.released,
];

/** Whether anybody listens to any of those that tell of acquisitions. */
export function hasSubscribers(): boolean {
  for (const channel of OF_ACQUISITIONS) if (channel.hasSubscribers) return true;
  return false;
}
