import { FixedWindowRateLimiter } from '../../src/index.js';
import type { RateLimiterStatistics, RateLimitLease } from '../../src/index.js';
import type { Fault, FaultyCase } from './faulty.js';
import { faulty, FaultyLease, leaseOf, LIMIT } from './faulty.js';

const AT_ONCE = 'grants the whole limit at once, and nothing beyond';
const SINGLE = 'grants as many single permits as at once';
const DEFAULT = 'asks for one permit where no count is given';
const NONE = 'answers a request for no permits by whether one is free, and takes none';
const METADATA = 'tells metadata under the names it lists, and under no others';
const HONEST = 'says honestly when to come back, where it says so';
const STATISTICS = 'counts grants and refusals in fresh snapshots, where it counts';

/** Refuses what a condition says. */
function refusing(isRefused: (permits: number | undefined, call: number) => boolean): FaultyCase[2] {
  return faulty(() => {
    let calls = 0;
    return {
      attemptAcquire: (inner, permits) =>
        isRefused(permits, ++calls) ? leaseOf(false) : inner.attemptAcquire(permits),
    };
  });
}

/** Dresses its leases. */
function leasing(dress: (lease: RateLimitLease, all: RateLimitLease[]) => RateLimitLease): FaultyCase[2] {
  return faulty(() => {
    const all: RateLimitLease[] = [];
    return {
      attemptAcquire: (inner, permits) => {
        const lease = inner.attemptAcquire(permits);
        if (lease.isAcquired) all.push(lease);
        return dress(lease, all);
      },
    };
  });
}

function withMetadata(names: readonly string[], valueOf: (name: unknown) => unknown): FaultyCase[2] {
  return leasing((lease) => new FaultyLease(lease, { metadataNames: names, getMetadata: valueOf }));
}

/** Names a time that something is to be back after, though nothing is before a second has passed. */
function naming(retryAfterMs: number): FaultyCase[2] {
  return (clock) => {
    const window = new FixedWindowRateLimiter({ permitLimit: LIMIT, windowMs: 1_000, clock });
    return faulty(() => ({
      attemptAcquire: (_inner, permits) =>
        new FaultyLease(window.attemptAcquire(permits), { getMetadata: () => retryAfterMs }),
    }))(clock);
  };
}

function counting(
  change: (statistics: RateLimiterStatistics, looks: number) => object | null,
): FaultyCase[2] {
  return faulty((): Fault => {
    let looks = 0;
    return { getStatistics: (inner) => change(inner.getStatistics(), ++looks) };
  });
}

/** What a limiter may do wrong when it grants or refuses. */
export const GRANTING_FAULTS: FaultyCase[] = [
  [
    AT_ONCE,
    'it granted a permit beyond the limit',
    faulty(() => ({ attemptAcquire: (inner) => inner.attemptAcquire(0) })),
  ],
  [
    AT_ONCE,
    'attemptAcquire(3) was refused although so many permits were free',
    refusing((permits) => permits === LIMIT),
  ],
  [SINGLE, 'it granted 2 single permits of a limit of 3', refusing((_permits, call) => call === LIMIT)],
  [
    SINGLE,
    'it granted 4 single permits of a limit of 3',
    faulty(() => ({ attemptAcquire: () => leaseOf(true) })),
  ],
  [DEFAULT, 'it refused one permit of a new limiter', refusing((permits) => permits === undefined)],
  [
    DEFAULT,
    'a request without a count took other than one permit',
    faulty(() => ({ attemptAcquire: (inner, permits) => inner.attemptAcquire(permits ?? 2) })),
  ],
  [
    'grants at once what is free, also to requests that could wait',
    'acquire did not grant what was free',
    faulty(() => ({ acquire: async () => leaseOf(false) })),
  ],
  [
    'grants at once what is free, also to requests that could wait',
    'acquire did not grant what was free',
    faulty(() => ({ acquire: () => new Promise(() => undefined) })),
  ],
  [NONE, 'it refused none of many permits', refusing((permits) => Object.is(permits, 0))],
  [NONE, 'it refused -0 permits', refusing((permits) => Object.is(permits, -0))],
  [
    NONE,
    'it granted none while no permit was free',
    faulty(() => ({
      attemptAcquire: (inner, permits) => (permits === 0 ? leaseOf(true) : inner.attemptAcquire(permits)),
    })),
  ],
  [
    'has everything again once all is given back',
    'after everything was given back it granted 0',
    leasing((lease) => new FaultyLease(lease, { dispose: () => undefined })),
  ],
  [
    'gives back once however often a lease is disposed',
    'a lease disposed twice gave back more than it held',
    leasing((lease, all) => new FaultyLease(lease, { dispose: () => all.pop()?.dispose() })),
  ],
  [
    'gets nothing back from a refused lease',
    'disposing a refused lease freed permits',
    leasing((lease, all) => new FaultyLease(lease, { dispose: () => all.pop()?.dispose() })),
  ],
  [
    METADATA,
    'what it answers with is not a RateLimitLease',
    faulty(() => ({ attemptAcquire: () => ({ isAcquired: true }) as RateLimitLease })),
  ],
  [METADATA, 'the lease names REASON but has no value for it', withMetadata(['REASON'], () => undefined)],
  [
    METADATA,
    'REASON differs between the name and its text',
    withMetadata(['REASON'], (name) =>
      name === 'REASON' ? 'text' : typeof name === 'object' ? 'other' : undefined,
    ),
  ],
  ...['toString', '__proto__', 'constructor', ''].map((own): FaultyCase => [
    METADATA,
    `the lease has metadata under the name '${own}'`,
    withMetadata([], (name) => (name === own ? 'something' : undefined)),
  ]),
  [
    METADATA,
    'the lease names REASON but has no value for it',
    leasing((lease) => (lease.isAcquired ? lease : new FaultyLease(lease, { metadataNames: ['REASON'] }))),
  ],
  [HONEST, 'RETRY_AFTER must be an integer of at least 1, but is 0', naming(0)],
  [HONEST, 'RETRY_AFTER must be an integer of at least 1, but is 1.5', naming(1.5)],
  [HONEST, 'it refused again after the 999 ms it had named', naming(999)],
  [
    STATISTICS,
    'it has statistics at one time and none at another',
    counting((statistics, looks) => (looks > 1 ? null : statistics)),
  ],
  [
    STATISTICS,
    'a new limiter must have all its permits available',
    counting((statistics) => ({ ...statistics, currentAvailablePermits: 0 })),
  ],
  [
    STATISTICS,
    'an exhausted limiter must have none available',
    counting((statistics) => ({ ...statistics, currentAvailablePermits: LIMIT })),
  ],
  [
    STATISTICS,
    'the grant was not counted',
    counting((statistics) => ({ ...statistics, totalSuccessfulLeases: 5 })),
  ],
  [
    STATISTICS,
    'the refusal was not counted',
    counting((statistics) => ({ ...statistics, totalFailedLeases: 5 })),
  ],
];
