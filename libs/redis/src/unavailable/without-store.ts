import type { AcquireOptions, PartitionedRateLimiter, RateLimitLease } from '@ratelease/limiters';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  RateLimitPartition,
  refusedMember,
} from '@ratelease/limiters';
import { RemoteRefusedLease } from '../leases/remote-refused-lease.js';
import type { LimiterDefinition } from '../remote/limiter-definition.js';
import type { Health } from '../store/health.js';
import type { LimiterGroup } from '../store/limiter-group.js';
import { STORE_UNAVAILABLE } from '../store-unavailable.js';
import { AllowedLease } from './allowed-lease.js';

interface LocalShare {
  readonly key: string;
  readonly definition: LimiterDefinition;
}

/** The answer, and which limiter of the group refused. */
export interface AnswerWithoutStore {
  readonly lease: RateLimitLease;
  readonly refusedBy: number;
}

const NO_LIMIT = createPartitionedRateLimiter((key: undefined) => RateLimitPartition.getNoLimiter(key));

/** Answers while the store can't be asked, as each limiter of a group wishes. */
export class WithoutStore {
  readonly #health: Health;
  #shares = newShares();

  constructor(health: Health) {
    this.#health = health;
    health.onChange((isAvailable) => {
      // What was spent here is forgotten, what is held here stays with its leases.
      if (isAvailable) this.#shares = newShares();
    });
  }

  async answer(group: LimiterGroup, permits: number, options: AcquireOptions): Promise<AnswerWithoutStore> {
    this.#health.countUnanswered();
    const denying = group.definitions.findIndex(({ whenUnavailable }) => whenUnavailable === 'deny');
    if (denying >= 0)
      return { lease: new RemoteRefusedLease({ reason: STORE_UNAVAILABLE }), refusedBy: denying };
    if (group.definitions.every(({ whenUnavailable }) => whenUnavailable === 'allow'))
      return { lease: new AllowedLease(), refusedBy: -1 };
    // More than this process' share: it can't be granted here, but it is no misuse.
    const tooSmall = group.definitions.findIndex(
      ({ whenUnavailable, localLimit }) => whenUnavailable === 'local' && permits > localLimit,
    );
    if (tooSmall >= 0)
      return { lease: new RemoteRefusedLease({ reason: STORE_UNAVAILABLE }), refusedBy: tooSmall };
    // All of the group, so that the lease tells of each in its place.
    const limiters = group.definitions.map((definition) =>
      definition.whenUnavailable === 'local' ? this.#shareOf(group.partitionKey, definition) : NO_LIMIT,
    );
    const limiter = limiters.length === 1 ? limiters[0]! : createChainedPartitionedRateLimiter(...limiters);
    const lease = await limiter.acquire(undefined, permits, options);
    return { lease, refusedBy: lease.isAcquired ? -1 : refusedMember(lease) };
  }

  /** Limiters have other numbers: those that stand in for them have their share of these at their next use. */
  redefined(): void {
    this.#shares.refreshOptions();
  }

  #shareOf(partitionKey: string, definition: LimiterDefinition): PartitionedRateLimiter<undefined> {
    const share = { key: `${partitionKey} ${definition.name}`, definition };
    return this.#shares.withTranslatedKey(() => share, { leaveOpen: true });
  }
}

function newShares(): PartitionedRateLimiter<LocalShare> {
  const partitioner = ({ key, definition }: LocalShare): RateLimitPartition<string> =>
    definition.localPartition(key, definition.clock);
  return createPartitionedRateLimiter(partitioner);
}
