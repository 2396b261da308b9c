import type { LeaseLostError } from './lease-lost-error.js';
import type { WaitEnd } from './wait-outcome.js';

/** A lease of this process. */
export interface Held {
  untilMs: number;
  onLost: ((reason: LeaseLostError) => void) | null;
}

/** A request of this process in the server's queue. */
export interface Waiting {
  /** Until then the server keeps its place. */
  untilMs: number;
  /** At least until then it keeps a lease that it has granted since it told last that there is the place. */
  heldUntilMs: number;
  readonly settle: (end: WaitEnd) => void;
  /** The limit that its own limiter has now; 0 where that is another one by now. */
  readonly ownLimit: () => number;
}

/** A request of which the server may not know yet whether it waits. */
export type Asking = Pick<Waiting, 'settle' | 'ownLimit'>;

/** Of one that does not wait: it learns by itself what becomes of it. */
export const IGNORING: Asking = { settle: () => undefined, ownLimit: () => 0 };

/** What a renewal answers about a lease or a wait; all else: it waits. */
export const LOST = 0;
export const HELD = 1;
export const EVICTED = 3;

/** The permits of a lease or a wait as the server keeps it: `id*permits`. */
export function permitsOf(member: string): number {
  return Number(member.slice(member.indexOf('*') + 1));
}

/** When the first of them ends, at `latestMs` at the latest. */
export function firstEndMs(kept: Iterable<{ readonly untilMs: number }>, latestMs: number): number {
  let firstMs = latestMs;
  for (const { untilMs } of kept) firstMs = Math.min(firstMs, untilMs);
  return firstMs;
}
