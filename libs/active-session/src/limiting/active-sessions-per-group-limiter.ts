import type {
  ConcurrencyLimiterOptions,
  RateLimitPartition as Partition,
  SingleShareableLeaseOwner,
} from '@ratelease/limiters';
import {
  ConcurrencyLimiter,
  createPartitionedRateLimiter,
  getManagedLifetimeLimiter,
  LinkedLeaseRateLimiter,
  RateLimitPartition,
} from '@ratelease/limiters';
import type { RateLimitingContext } from '@ratelease/nestjs';
import type { ActiveSession } from '../sessions/active-session.js';
import { ActiveSessionGroup } from '../sessions/active-session-group.js';
import type { ActiveSessions } from '../sessions/active-sessions.js';
import { SessionLeaseStore } from './session-lease-store.js';

/** How many sessions may be active in a group, and how many requests may wait for one. */
export type ActiveSessionsPerGroupOptions = Pick<
  ConcurrencyLimiterOptions,
  'permitLimit' | 'queueLimit' | 'queueProcessingOrder'
>;

/** The partition of requests outside of sessions. */
const NO_SESSION = Symbol('no session');

/**
 * At most so many active sessions per group: a session holds one permit from its first granted request to its
 * end, and its requests share it. Requests outside of sessions, or of one that has ended, are not limited. A
 * session that has asked for its permit in vain is ended after the response.
 */
export class ActiveSessionsPerGroupLimiter extends LinkedLeaseRateLimiter<RateLimitingContext> {
  readonly #sessions: ActiveSessions;
  readonly #stores = new WeakMap<ActiveSession, SessionLeaseStore>();

  /** @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for numbers out of range. */
  constructor(sessions: ActiveSessions, options: ActiveSessionsPerGroupOptions) {
    const { clock } = sessions;
    const numbers = { ...options, clock };
    // The mistakes in the numbers speak now, not at the first session.
    new ConcurrencyLimiter(numbers).dispose();
    const base = createPartitionedRateLimiter(
      (context: RateLimitingContext) => partitionOf(sessions.of(context), numbers),
      { keyIdentity: (key) => (key instanceof ActiveSessionGroup ? key.id : key), clock },
    );
    super(base, { disposeBaseLimiter: true, clock });
    this.#sessions = sessions;
  }

  protected override getLeaseStore(
    context: RateLimitingContext,
  ): SingleShareableLeaseOwner<RateLimitingContext> | null {
    const session = this.#sessions.of(context);
    return session?.isAvailable === true ? this.#storeOf(session) : null;
  }

  #storeOf(session: ActiveSession): SessionLeaseStore {
    const known = this.#stores.get(session);
    if (known !== undefined) return known;
    const store = new SessionLeaseStore();
    this.#stores.set(session, store);
    session.ended.addEventListener('abort', () => this.#end(store), { once: true });
    session.onLeave(() => {
      if (store.isRefused) void session.terminate('refused');
    });
    return store;
  }

  /** An error that left an event listener would end the process. */
  #end(store: SessionLeaseStore): void {
    try {
      store.dispose();
    } catch (error) {
      this.#sessions.report(error);
    }
  }
}

function partitionOf(
  session: ActiveSession | undefined,
  numbers: ConcurrencyLimiterOptions,
): Partition<ActiveSessionGroup | symbol> {
  if (session?.isAvailable !== true)
    return RateLimitPartition.getNoLimiter<ActiveSessionGroup | symbol>(NO_SESSION);
  return getManagedLifetimeLimiter<ActiveSessionGroup | symbol>(
    session.group,
    (key) => RateLimitPartition.getConcurrencyLimiter(key, () => numbers),
    (limiter) => void session.group.takeOwnership(limiter),
  );
}
