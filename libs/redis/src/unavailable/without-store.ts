import type { JointWait, RateLimiter, RateLimitLease } from '@ratelease/limiters';
import { createChainedRateLimiter, RateLimitPartition, refusedMember } from '@ratelease/limiters';
import { RemoteRefusedLease } from '../leases/remote-refused-lease.js';
import type { Health } from '../store/health.js';
import type { LimiterGroup } from '../store/limiter-group.js';
import { STORE_UNAVAILABLE } from '../store-unavailable.js';
import { AllowedLease } from './allowed-lease.js';
import type { LocalShare } from './local-shares.js';
import { LocalShares } from './local-shares.js';

/** The answer, and which limiter of the group refused. */
export interface AnswerWithoutStore {
  readonly lease: RateLimitLease;
  readonly refusedBy: number;
}

const NO_LIMIT: LocalShare = { limiter: RateLimitPartition.getNoLimiter('').factory(''), limit: Infinity };

/** Answers while the store can't be asked, as each limiter of a group wishes. */
export class WithoutStore {
  readonly #health: Health;
  #shares = new LocalShares();

  constructor(health: Health) {
    this.#health = health;
    health.onChange((isAvailable) => {
      // What was spent here is forgotten, what is held here stays with its leases.
      if (isAvailable) this.#shares = new LocalShares();
    });
  }

  async answer(group: LimiterGroup, permits: number, wait: Partial<JointWait>): Promise<AnswerWithoutStore> {
    this.#health.countUnanswered();
    const denying = group.definitions.findIndex(({ whenUnavailable }) => whenUnavailable === 'deny');
    if (denying >= 0)
      return { lease: new RemoteRefusedLease({ reason: STORE_UNAVAILABLE }), refusedBy: denying };
    if (group.definitions.every(({ whenUnavailable }) => whenUnavailable === 'allow'))
      return { lease: new AllowedLease(), refusedBy: -1 };
    // All of the group, so that the lease tells of each in its place.
    const shares = group.definitions.map((definition) =>
      definition.whenUnavailable === 'local' ? this.#shares.of(group.partitionKey, definition) : NO_LIMIT,
    );
    // More than this process' share: it can't be granted here, but it is no misuse.
    const tooSmall = shares.findIndex(({ limit }) => permits > limit);
    if (tooSmall >= 0)
      return { lease: new RemoteRefusedLease({ reason: STORE_UNAVAILABLE }), refusedBy: tooSmall };
    const limiters = shares.map(({ limiter }) => limiter);
    const limiter = limiters.length === 1 ? limiters[0]! : createChainedRateLimiter(...limiters);
    const lease = await acquireFrom(limiter, permits, wait);
    return { lease, refusedBy: lease.isAcquired ? -1 : refusedMember(lease) };
  }
}

/** Asks a limiter of this process, and says so before it waits for that. */
async function acquireFrom(
  limiter: RateLimiter,
  permits: number,
  { signal, maxWaitMs, onWait }: Partial<JointWait>,
): Promise<RateLimitLease> {
  if (onWait !== undefined && maxWaitMs !== 0) {
    const lease = limiter.attemptAcquire(permits);
    if (lease.isAcquired) return lease;
    onWait();
  }
  return limiter.acquire(permits, { signal, maxWaitMs });
}
