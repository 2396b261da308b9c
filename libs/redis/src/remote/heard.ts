import type { Clock } from '@ratelease/limiters';
import type { Answer } from '../store/decision-request.js';
import type { Standing } from '../store/standing.js';
import { standingLater } from '../store/standing.js';

/** When an answer was asked for, and by the clock of the limiter when it came. */
interface Times {
  readonly sinceMs: number;
  readonly heardMs: number;
}

/** An answer, and when it came. */
export type Heard = Answer & Times;
export type HeardGrant = Extract<Heard, { kind: 'granted' | 'waiting' }>;
export type HeardWait = Extract<Heard, { kind: 'waiting' }>;
export type HeardRefusal = Extract<Heard, { kind: 'refused' }>;

/** What is known now of how the limiters stand. */
export function standingNow({ standing, heardMs }: HeardWait | HeardRefusal, clock: Clock): Standing {
  return standingLater(standing, Math.floor(Math.max(0, clock.now() - heardMs) * 1_000));
}

/** What a request that stands behind others in this process has heard without asking. */
export function refusedUnasked(member: number, clock: Clock): HeardRefusal {
  const refused = { kind: 'refused', member, waitUs: -1, longestUs: -1, standing: [] } as const;
  return { ...refused, sinceMs: performance.now(), heardMs: clock.now() };
}
