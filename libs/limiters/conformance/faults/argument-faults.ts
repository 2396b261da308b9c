import type { RateLimiter } from '../../src/index.js';
import type { FaultyCase } from './faulty.js';
import { faulty, leaseOf, LIMIT } from './faulty.js';

const COUNTS: [count: unknown, kind: string][] = [
  [-1, 'RangeError'],
  [0.5, 'RangeError'],
  [NaN, 'RangeError'],
  [Infinity, 'RangeError'],
  [2 ** 53, 'RangeError'],
  [LIMIT + 1, 'RangeError'],
  ['1', 'TypeError'],
  [null, 'TypeError'],
];

const THROWS = 'throws for permit counts that make no sense, and counts nothing';
const REJECTS = 'rejects for permit counts that make no sense, never throwing synchronously';
const ABORTED = 'rejects with the reason of a signal that is aborted already';

/** Takes one of the counts that make no sense. */
function taking(count: unknown): FaultyCase[] {
  return [
    [
      THROWS,
      'expected an error, but the call returned',
      faulty(() => ({
        attemptAcquire: (inner, permits) =>
          Object.is(permits, count) ? leaseOf(true) : inner.attemptAcquire(permits),
      })),
    ],
    [
      REJECTS,
      `acquire(${String(count)}) must reject with a `,
      faulty(() => ({
        acquire: async (inner, permits) =>
          Object.is(permits, count) ? leaseOf(true) : inner.acquire(permits),
      })),
    ],
  ];
}

/** Counts each look at its counters. */
const counting = faulty(() => {
  let looks = 0;
  return { getStatistics: () => ({ looks: looks++ }) };
});

/** What a limiter may do wrong with its arguments. */
export const ARGUMENT_FAULTS: FaultyCase[] = [
  [
    'is recognised as a rate limiter',
    'it is not an instance of a subclass of RateLimiter',
    () => ({}) as RateLimiter,
  ],
  ...COUNTS.flatMap(([count]) => taking(count)),
  ...COUNTS.map(([count, kind]): FaultyCase => [
    THROWS,
    `attemptAcquire(${String(count)}) must throw a ${kind}: Error: no`,
    faulty(() => ({
      attemptAcquire: (inner, permits) => {
        if (Object.is(permits, count)) throw new Error('no');
        return inner.attemptAcquire(permits);
      },
    })),
  ]),
  [
    REJECTS,
    'acquire(-1) must reject with a RangeError: no error',
    faulty(() => ({ acquire: async () => leaseOf(false) })),
  ],
  [THROWS, 'a misuse changed the statistics', counting],
  [REJECTS, 'a misuse changed the statistics', counting],
  [
    ABORTED,
    "acquire must reject with the signal's reason: Error: other",
    faulty(() => ({ acquire: () => Promise.reject(new Error('other')) })),
  ],
  [ABORTED, 'an aborted request changed the statistics', counting],
  [
    'looks at the count before it looks at the signal',
    'a count above the limit comes first: Error: aborted',
    faulty(() => ({
      acquire: (inner, permits, options) =>
        options?.signal?.aborted === true
          ? Promise.reject(options.signal.reason as Error)
          : inner.acquire(permits, options),
    })),
  ],
];
