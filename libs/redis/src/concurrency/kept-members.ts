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
export type Asking = Pick<Waiting, 'settle' | 'ownLimit' | 'heldUntilMs'>;

/** Of one that does not wait: it learns by itself what becomes of it. */
export const IGNORING: Asking = { settle: () => undefined, ownLimit: () => 0, heldUntilMs: Infinity };

/** What a renewal answers about a lease or a wait; all else: it waits. */
export const LOST = 0;
const HELD = 1;
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

/** Limiters that share a name may have limits of their own: by the highest of those that wait, all are served. */
export function highestLimit(limit: number, waiting: Iterable<Waiting>): number {
  let highest = limit;
  for (const { ownLimit } of waiting) highest = Math.max(highest, ownLimit());
  return highest;
}

/** A renewal sent at `sentMs` tells of a wait what its message has not. */
// oxlint-disable-next-line max-params -- once for each wait of a renewal
export function waitRenewed(waiting: Waiting, state: number, sentMs: number, leaseTtlMs: number): void {
  // A place that came to its end was taken by nobody.
  if (state === EVICTED && waiting.untilMs > sentMs) waiting.settle('evicted');
  else if (state === LOST || state === EVICTED) waiting.settle('lost');
  else waiting.untilMs = waiting.heldUntilMs = sentMs + leaseTtlMs;
  // An answer that was read late, as the process stood still, may tell of a lease that has ended since: the next will.
  if (state === HELD && waiting.heldUntilMs > performance.now()) waiting.settle('granted');
}
