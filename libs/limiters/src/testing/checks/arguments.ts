import type { RateLimiter } from '../../rate-limiter.js';
import { isRateLimiter } from '../../rate-limiter.js';
import type { Trial } from '../conformance-check.js';
import { abortedSignal, describe, follow, thrownBy, verify } from '../conformance-check.js';

/** What a check does with a new limiter. */
export type Try = (trial: Trial) => void | Promise<void>;

/** Counts that no limiter may take, with the kind of error they bring. */
function badCounts(limit: number): readonly [unknown, new () => Error][] {
  return [
    [-1, RangeError],
    [0.5, RangeError],
    [NaN, RangeError],
    [Infinity, RangeError],
    [2 ** 53, RangeError],
    [limit + 1, RangeError],
    ['1', TypeError],
    [null, TypeError],
  ];
}

function snapshot(limiter: RateLimiter): string {
  return JSON.stringify(limiter.getStatistics());
}

/** What a limiter does with its arguments. */
export const argumentChecks: Readonly<Record<string, Try>> = {
  'is recognised as a rate limiter'({ limiter }) {
    verify(isRateLimiter(limiter), 'it is not an instance of a subclass of RateLimiter');
  },

  'throws for permit counts that make no sense, and counts nothing'({ limiter, limit }) {
    const before = snapshot(limiter);
    for (const [count, kind] of badCounts(limit)) {
      const error = thrownBy(() => limiter.attemptAcquire(count as number));
      verify(
        error instanceof kind,
        `attemptAcquire(${String(count)}) must throw a ${kind.name}: ${describe(error)}`,
      );
    }
    verify(snapshot(limiter) === before, 'a misuse changed the statistics');
  },

  async 'rejects for permit counts that make no sense, never throwing synchronously'({ limiter, limit }) {
    const before = snapshot(limiter);
    for (const [count, kind] of badCounts(limit)) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other tells which it was
      const { error } = await follow(limiter.acquire(count as number));
      verify(
        error instanceof kind,
        `acquire(${String(count)}) must reject with a ${kind.name}: ${describe(error)}`,
      );
    }
    verify(snapshot(limiter) === before, 'a misuse changed the statistics');
  },

  async 'rejects with the reason of a signal that is aborted already'({ limiter }) {
    const before = snapshot(limiter);
    const reason = new Error('aborted beforehand');
    const { error } = await follow(limiter.acquire(1, { signal: abortedSignal(reason) }));
    verify(error === reason, `acquire must reject with the signal's reason: ${describe(error)}`);
    verify(snapshot(limiter) === before, 'an aborted request changed the statistics');
  },

  async 'looks at the count before it looks at the signal'({ limiter, limit }) {
    const { error } = await follow(
      limiter.acquire(limit + 1, { signal: abortedSignal(new Error('aborted')) }),
    );
    verify(error instanceof RangeError, `a count above the limit comes first: ${describe(error)}`);
  },
};
