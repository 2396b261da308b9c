import type { RateLimitLease } from '../../src/index.js';
import type { Fault, FaultyCase } from './faulty.js';
import { faulty, leaseOf, LIMIT } from './faulty.js';

const SERVES = 'serves who waits once permits are back';
const ORDER = 'serves waiters in the order they came';
const OVERTAKE = 'lets nobody overtake who waits';
const ABORT = 'rejects a waiter with the reason of its signal, and forgets it';
const NEXT = 'goes on to the next when the first in the queue aborts';
const LISTENER = 'leaves no listener on the signal of a request that was served';
const LATE = 'does nothing when a signal aborts after the grant';
const NO_TIME = 'refuses a request that has no time to wait';
const END = 'resolves its waiters refused when it ends';

const never = (): Promise<RateLimitLease> => new Promise(() => undefined);
const impatient = faulty(() => ({ acquire: async (inner, permits) => inner.attemptAcquire(permits) }));
const newestFirst = faulty(() => ({}), { queueProcessingOrder: 'newestFirst' });
/** Lets everybody wait for ever who can't be granted at once. */
const forgetful = faulty(() => ({
  acquire: async (inner, permits) => {
    const lease = inner.attemptAcquire(permits);
    return lease.isAcquired ? lease : never();
  },
}));

/** Listens for the aborts of all requests, or of those that are granted at once or not, and never stops. */
function listening(isMeant: (isGranted: boolean) => boolean): FaultyCase[2] {
  return faulty((): Fault => ({
    acquire: (inner, permits, options) => {
      const isGranted = inner.getStatistics().currentAvailablePermits >= permits!;
      if (isMeant(isGranted)) options?.signal?.addEventListener('abort', () => undefined);
      return inner.acquire(permits, options);
    },
  }));
}

/** Takes an abort after the grant for one before. */
function giving(onLateAbort: (lease: RateLimitLease) => void): FaultyCase[2] {
  return faulty(() => ({
    acquire: async (inner, permits, options) => {
      const lease = await inner.acquire(permits, options);
      options?.signal?.addEventListener('abort', () => onLateAbort(lease));
      return lease;
    },
  }));
}

/** What a limiter may do wrong with those who wait. */
export const WAITING_FAULTS: FaultyCase[] = [
  [SERVES, 'acquire(1) did not wait although the queue had room', impatient],
  [SERVES, 'permits came back, and the waiter was not served', forgetful],
  [ORDER, 'the waiters were served in the order 2,1', newestFirst],
  [ORDER, 'the waiters were served in the order (nobody)', forgetful],
  [OVERTAKE, 'acquire(2) did not wait although the queue had room', impatient],
  [OVERTAKE, 'a newcomer took a permit that a waiter needs', newestFirst],
  [
    ABORT,
    "the waiter must reject with the signal's reason: Error: other",
    faulty(() => ({
      acquire: (inner, permits, options) =>
        inner.acquire(permits, options).catch(() => Promise.reject(new Error('other'))),
    })),
  ],
  [ABORT, "the waiter must reject with the signal's reason: no error", forgetful],
  [ABORT, 'a listener was left on the signal', listening(() => true)],
  [
    ABORT,
    'an aborted waiter took permits, or still stands in the way',
    faulty(() => ({
      acquire: (inner, permits, options) => {
        void inner.acquire(permits);
        return inner.acquire(permits, options);
      },
    })),
  ],
  [
    NEXT,
    'the waiter behind an aborted one was not looked at',
    faulty(() => ({
      acquire: (inner, permits, options) => (permits === 1 ? never() : inner.acquire(permits, options)),
    })),
  ],
  [LISTENER, 'a request that did not wait left a listener', listening((isGranted) => isGranted)],
  [LISTENER, 'a request that was served left a listener', listening((isGranted) => !isGranted)],
  [LATE, 'the lease did not survive a late abort', faulty(() => ({ acquire: async () => leaseOf(false) }))],
  [LATE, 'a late abort gave permits back', giving((lease) => lease.dispose())],
  [NO_TIME, 'a request with maxWaitMs 0 waits', faulty(() => ({ acquire: never }))],
  [
    NO_TIME,
    'it must resolve refused: Error: too late',
    faulty(() => ({ acquire: () => Promise.reject(new Error('too late')) })),
  ],
  [
    END,
    'a waiter must resolve refused: Error: gone',
    faulty(() => ({
      acquire: (inner, permits) =>
        inner
          .acquire(permits)
          .then((lease) => (lease.isAcquired ? lease : Promise.reject(new Error('gone')))),
    })),
  ],
  [END, 'a waiter must resolve refused: no error', faulty(() => ({ dispose: () => undefined }))],
  [
    END,
    'a timer was left behind',
    faulty((clock) => ({
      acquire: (inner, permits) => {
        clock.setTimer(() => undefined, LIMIT);
        return inner.acquire(permits);
      },
    })),
  ],
];
