import type {
  Clock,
  DerivedLease,
  PartitionedRateLimiter,
  QueueProcessingOrder,
  RateLimitLease,
  StoredLease,
} from '../../src/index.js';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  LinkedLeaseRateLimiter,
  MetadataName,
  RateLimitPartition,
  SingleShareableLeaseOwner,
} from '../../src/index.js';

/** A long-lived thing that keeps its lease in a field. */
export class Session extends SingleShareableLeaseOwner<Visit> {
  lease: RateLimitLease | undefined;
  readonly released: DerivedLease[] = [];

  override release(derivedLease: DerivedLease): void {
    this.released.push(derivedLease);
  }

  protected override tryGetLease(): RateLimitLease | undefined {
    return this.lease;
  }

  protected override trySetLease(lease: RateLimitLease): StoredLease {
    if (this.lease !== undefined) return { stored: false, lease: this.lease };
    this.lease = lease;
    return { stored: true, lease };
  }
}

/** A request, of a session or of none. */
export interface Visit {
  readonly group: string;
  readonly session: SingleShareableLeaseOwner<Visit> | null;
}

/** The request of a session in the only group. */
export function visit(session: SingleShareableLeaseOwner<Visit> | null, group = 'group'): Visit {
  return { session, group };
}

/** Links the requests of a session. */
export class VisitLimiter extends LinkedLeaseRateLimiter<Visit> {
  protected override getLeaseStore({ session }: Visit): SingleShareableLeaseOwner<Visit> | null {
    return session;
  }
}

/** So many sessions per group at once. */
export function perGroup(
  permitLimit: number,
  options: {
    queueLimit?: number;
    queueProcessingOrder?: QueueProcessingOrder;
    clock?: Clock;
  } = {},
): PartitionedRateLimiter<Visit> {
  return createPartitionedRateLimiter(
    ({ group }: Visit) =>
      RateLimitPartition.getConcurrencyLimiter(group, () => ({ permitLimit, ...options })),
    options.clock === undefined ? {} : { clock: options.clock },
  );
}

/** What is free in a group, and how much of it is waited for. */
export function freeAndQueued(base: PartitionedRateLimiter<Visit>, group = 'group'): [number, number] {
  const statistics = base.getStatistics({ group, session: null })!;
  return [statistics.currentAvailablePermits, statistics.currentQueuedCount];
}

/** How a promise stands once everything that has been settled is known. */
export async function stateOf(promise: Promise<RateLimitLease>): Promise<string> {
  const pending = 'pending';
  let state: string = pending;
  promise.then(
    (lease) => (state = lease.isAcquired ? 'granted' : `refused: ${String(reasonOf(lease))}`),
    (error: unknown) => (state = `rejected: ${error instanceof Error ? error.name : String(error)}`),
  );
  // oxlint-disable-next-line no-await-in-loop -- one microtask after the other
  for (let turn = 0; turn < 30; turn++) await Promise.resolve();
  return state;
}

/** The reason phrase of a refused lease. */
export function reasonOf(lease: RateLimitLease): string | undefined {
  return lease.getMetadata(MetadataName.reasonPhrase);
}

/** The lease, which has to be a granted one. */
export function granted(lease: RateLimitLease): RateLimitLease {
  expect(lease.isAcquired).toBe(true);
  return lease;
}

/** A limiter for all requests together, before the one for sessions. */
export function chained(
  base: PartitionedRateLimiter<Visit>,
  requests: number,
  queueLimit = 0,
): { all: PartitionedRateLimiter<Visit>; chain: PartitionedRateLimiter<Visit> } {
  const all = createPartitionedRateLimiter((_visit: Visit) =>
    RateLimitPartition.getConcurrencyLimiter('all', () => ({ permitLimit: requests, queueLimit })),
  );
  return { all, chain: createChainedPartitionedRateLimiter(all, new VisitLimiter(base)) };
}
