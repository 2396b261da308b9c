import { setTimeout as after } from 'node:timers/promises';
import type {
  AcquireOptions,
  AsyncPartitionedRateLimiter,
  PartitionedRateLimiter,
  RateLimitLease,
  StoredLease,
} from '@ratelease/limiters';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  LinkedLeaseRateLimiter,
  RateLimitPartition,
  SingleShareableLeaseOwner,
} from '@ratelease/limiters';
import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions, RemoteLease } from '../../src/index.js';

export const PERMIT_LIMIT = 2;
const SESSIONS = { permitLimit: PERMIT_LIMIT, queueLimit: 8, leaseTtlMs: 1_000, name: 'sessions' };
const REQUESTS = { permitLimit: 3, name: 'requests' };
const RATE = { permitLimit: 1_000_000, windowMs: 3_600_000, name: 'rate' };

/** What a request is made for: a session, which keeps its lease in a field. */
export class Session extends SingleShareableLeaseOwner<Session> {
  lease: RateLimitLease | undefined;

  protected override tryGetLease(): RateLimitLease | undefined {
    return this.lease;
  }

  protected override trySetLease(lease: RateLimitLease): StoredLease {
    if (this.lease !== undefined) return { stored: false, lease: this.lease };
    this.lease = lease;
    return { stored: true, lease };
  }

  override get isDisposed(): boolean {
    return super.isDisposed;
  }

  /** Whether it holds a permit on the server. */
  get isActive(): boolean {
    return !this.isDisposed && this.lease instanceof RemoteLease && !this.lease.signal.aborted;
  }
}

class SessionLimiter extends LinkedLeaseRateLimiter<Session> {
  protected override getLeaseStore(session: Session): Session {
    return session;
  }
}

export const WAYS = [
  'alone',
  'behind slots',
  'before slots',
  'behind a rate',
  'before one in process',
] as const;
export type Way = (typeof WAYS)[number];

/** The limiters of a process whose sessions share permits with those of others. */
export class SessionsOfAProcess {
  readonly shared: RedisPartitions;
  readonly #remote: readonly AsyncPartitionedRateLimiter<Session>[];
  readonly #ways: Record<Way, AsyncPartitionedRateLimiter<Session>>;

  constructor(options: Parameters<typeof createRedisPartitions>[0]) {
    const shared = createRedisPartitions(options);
    this.shared = shared;
    const base = createPartitionedRateLimiter((_session: Session) =>
      shared.getConcurrencyLimiter('all', () => SESSIONS),
    );
    const linked = new SessionLimiter(base as unknown as PartitionedRateLimiter<Session>);
    const slots = createPartitionedRateLimiter((_session: Session) =>
      shared.getConcurrencyLimiter('elsewhere', () => REQUESTS),
    );
    const rate = createPartitionedRateLimiter((_session: Session) =>
      shared.getFixedWindowLimiter('elsewhere', () => RATE),
    );
    const here = createPartitionedRateLimiter((_session: Session) =>
      RateLimitPartition.getConcurrencyLimiter('here', () => ({ permitLimit: 2, queueLimit: 3 })),
    );
    this.#remote = [base, slots, rate];
    this.#ways = {
      alone: linked,
      'behind slots': createChainedPartitionedRateLimiter(slots, linked),
      'before slots': createChainedPartitionedRateLimiter(linked, slots),
      'behind a rate': createChainedPartitionedRateLimiter(rate, linked),
      'before one in process': createChainedPartitionedRateLimiter(linked, here),
    };
  }

  ask(way: Way, session: Session, options: AcquireOptions = {}): Promise<RateLimitLease> {
    return this.#ways[way].acquire(session, 1, options);
  }

  /** Until the server has answered later questions: by then it has decided all earlier ones, also those given up. */
  async untilAnswered(): Promise<void> {
    for (const limiter of this.#remote)
      // oxlint-disable-next-line no-await-in-loop -- until it is so
      while (!((await limiter.acquire(new Session(), 0, { maxWaitMs: 0 })) instanceof RemoteLease))
        await after(1);
  }
}
