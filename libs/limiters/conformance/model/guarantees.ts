import type { Kind, Setup } from './limiter-setups.js';

/** Permits granted at a moment, in milliseconds of time that really passed. */
export interface Grant {
  readonly atMs: number;
  readonly permits: number;
}

/** The most that a limiter promises to grant in any span of so many milliseconds, or `Infinity` where it promises nothing. */
type Bound = (spanMs: number) => number;

/** What the documentation of the algorithms promises. */
const BOUNDS: Readonly<Record<Kind, (setup: Setup) => Bound>> = {
  concurrency: () => () => Infinity,
  // Windows lie end to end, each without its end: that is how many a span can touch.
  fixedWindow:
    ({ limit, segmentMs }) =>
    (spanMs) =>
      limit * touched(spanMs, segmentMs),
  // And any so many segments that follow each other have granted the limit at most.
  slidingWindow:
    ({ limit, segmentMs, segments }) =>
    (spanMs) =>
      limit * Math.ceil(touched(spanMs, segmentMs) / segments),
  greedyBucket:
    ({ limit, tokensPerPeriod, periodMs }) =>
    (spanMs) =>
      limit + Math.floor((tokensPerPeriod * spanMs) / periodMs),
  intervalBucket:
    ({ limit, tokensPerPeriod, periodMs }) =>
    (spanMs) =>
      limit + tokensPerPeriod * (Math.floor(spanMs / periodMs) + 1),
};

/** How many intervals that lie end to end a span can touch. */
function touched(spanMs: number, intervalMs: number): number {
  return Math.ceil(spanMs / intervalMs) + 1;
}

export function boundOf(kind: Kind, setup: Setup): Bound {
  return BOUNDS[kind](setup);
}

/** The first span in which more was granted than promised, in words; `undefined` where there is none. */
export function brokenPromise(grants: readonly Grant[], bound: Bound): string | undefined {
  for (let first = 0; first < grants.length; first++) {
    let sum = 0;
    for (let last = first; last < grants.length; last++) {
      sum += grants[last]!.permits;
      const spanMs = grants[last]!.atMs - grants[first]!.atMs;
      if (sum > bound(spanMs)) {
        return `${sum} permits in ${spanMs} ms from ${grants[first]!.atMs} on, promised ${bound(spanMs)}`;
      }
    }
  }
  return undefined;
}
