import type { Fault, FaultyCase } from './faulty.js';
import { faulty, leaseOf } from './faulty.js';

const IDLE = 'is idle once everything is back, and not before';
const REPLENISHES = 'says how it replenishes';
const ENDED = 'gives nothing more after its end';
const ENDED_WAITS = 'rejects requests after its end, the wrong ones for what is wrong with them';
const LOOKED_AT = 'can be looked at after its end';
const CHAIN = 'costs the other members of a chain nothing when it refuses';

/** Is as idle as it is told to be, look by look. */
function idle(...answers: (number | null)[]): FaultyCase[2] {
  return faulty(() => {
    const left = [...answers];
    return { idleDurationMs: () => (left.length > 1 ? left.shift() : left[0]) };
  });
}

/** Does otherwise once it has ended. */
function afterEnd(fault: Fault): FaultyCase[2] {
  return faulty(() => {
    let hasEnded = false;
    return {
      attemptAcquire: (inner, permits) =>
        hasEnded && fault.attemptAcquire !== undefined
          ? fault.attemptAcquire(inner, permits)
          : inner.attemptAcquire(permits),
      acquire: (inner, permits, options) =>
        hasEnded && fault.acquire !== undefined
          ? fault.acquire(inner, permits, options)
          : inner.acquire(permits, options),
      getStatistics: (inner) =>
        hasEnded && fault.getStatistics !== undefined ? fault.getStatistics(inner) : inner.getStatistics(),
      tryReplenish: (inner) => hasEnded && fault.tryReplenish?.(inner) === true,
      idleDurationMs: (inner) =>
        hasEnded && fault.idleDurationMs !== undefined ? fault.idleDurationMs(inner) : inner.idleDurationMs,
      dispose: (inner) => {
        hasEnded = true;
        inner.dispose();
      },
    };
  });
}

/** Answers one kind of request after its end with an error of another kind. */
function confused(isMeant: (permits: number | undefined, isAborted: boolean) => boolean): FaultyCase[2] {
  return afterEnd({
    acquire: (inner, permits, options) =>
      isMeant(permits, options?.signal?.aborted === true)
        ? Promise.reject(new Error('gone'))
        : inner.acquire(permits, options),
  });
}

/** What a limiter may do wrong over its life. */
export const LIFETIME_FAULTS: FaultyCase[] = [
  [
    'sets no timer while nobody waits',
    'a timer is set although nobody waits',
    faulty((clock) => ({
      attemptAcquire: (inner, permits) => {
        clock.setTimer(() => undefined, 1_000);
        return inner.attemptAcquire(permits);
      },
    })),
  ],
  [IDLE, 'it says it is idle while permits are out', idle(0)],
  [IDLE, 'it has been idle for -1 ms', idle(null, -1)],
  [IDLE, 'its idle time does not grow with the clock', idle(null, 5, 4)],
  [IDLE, 'its idle time does not grow with the clock', idle(null, 5, null)],
  [REPLENISHES, 'isAutoReplenishing must be a boolean', faulty(() => ({ isAutoReplenishing: () => 'yes' }))],
  [REPLENISHES, 'replenishmentPeriodMs must be above 0', faulty(() => ({ replenishmentPeriodMs: () => 0 }))],
  [REPLENISHES, 'tryReplenish must return a boolean', faulty(() => ({ tryReplenish: () => undefined }))],
  [ENDED, 'expected an error, but the call returned', afterEnd({ attemptAcquire: () => leaseOf(false) })],
  ...[0, 1].map((meant): FaultyCase => [
    ENDED,
    'expected an ObjectDisposedError: Error: gone',
    afterEnd({
      attemptAcquire: (inner, permits) => {
        if (permits === meant) throw new Error('gone');
        return inner.attemptAcquire(permits);
      },
    }),
  ]),
  [
    ENDED_WAITS,
    'expected an ObjectDisposedError: Error: gone',
    confused((permits, isAborted) => permits === 1 && !isAborted),
  ],
  [ENDED_WAITS, 'expected an ObjectDisposedError: no error', faulty(() => ({ dispose: () => undefined }))],
  [ENDED_WAITS, 'the end comes before an aborted signal', confused((_permits, isAborted) => isAborted)],
  [ENDED_WAITS, 'a count above the limit comes before the end', confused((permits) => permits !== 1)],
  [LOOKED_AT, 'the statistics changed at the end', afterEnd({ getStatistics: () => null })],
  [LOOKED_AT, 'it replenishes after its end', afterEnd({ tryReplenish: () => true })],
  [LOOKED_AT, 'after its end it is idle for -1 ms', afterEnd({ idleDurationMs: () => -1 })],
  [
    CHAIN,
    'a chain granted what this member refuses',
    faulty(() => ({ attemptAcquire: () => leaseOf(true) })),
  ],
  [
    CHAIN,
    'a chain refused what all its members have',
    faulty(() => {
      let calls = 0;
      return {
        attemptAcquire: (inner, permits) => (++calls > 3 ? leaseOf(false) : inner.attemptAcquire(permits)),
      };
    }),
  ],
];
