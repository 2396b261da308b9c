import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  LinkedLeaseRateLimiter,
  RateLimiter,
  RateLimitPartition,
} from '../index.js';
import type { PartitionedRateLimiter, RateLimitLease, RateLimitPartition as Partition } from '../index.js';
import { Owner } from '../../conformance/linked/only-owner.js';
import { FakeClock } from '../testing/index.js';

const TIMEOUT_MS = 1_000;
const ONE = { permitLimit: 1, queueLimit: 5 };

/** A limiter of somebody's own with one permit, to which its end means nothing. */
class Endless extends RateLimiter {
  readonly #inner: ConcurrencyLimiter;

  constructor(clock: FakeClock) {
    super();
    this.#inner = new ConcurrencyLimiter({ ...ONE, clock });
  }

  override get idleDurationMs(): number | null {
    return this.#inner.idleDurationMs;
  }

  override getStatistics(): null {
    return null;
  }

  protected override attemptAcquireCore(permitCount: number): RateLimitLease {
    return this.#inner.attemptAcquire(permitCount);
  }

  protected override acquireCore(permitCount: number, signal?: AbortSignal): Promise<RateLimitLease> {
    return this.#inner.acquire(permitCount, { signal });
  }
}

class Linked extends LinkedLeaseRateLimiter<string> {
  protected override getLeaseStore(): Owner {
    return new Owner();
  }
}

type Making = (key: string, clock: FakeClock) => Partition<string>;
const makings: [string, Making][] = [
  ['rows', (key) => RateLimitPartition.getConcurrencyLimiter(key, () => ONE)],
  [
    'built-in limiters',
    (key, clock) => RateLimitPartition.get(key, () => new ConcurrencyLimiter({ ...ONE, clock })),
  ],
  ['own limiters', (key, clock) => RateLimitPartition.get(key, () => new Endless(clock))],
];
type Member = (base: PartitionedRateLimiter<string>) => PartitionedRateLimiter<string>;
const members: [string, Member][] = [
  ['itself', (base) => base],
  [
    'in a chain',
    (base) =>
      createChainedPartitionedRateLimiter(
        base,
        base.withTranslatedKey((key) => `${key} too`, { leaveOpen: true }),
      ),
  ],
  ['linked to', (base) => new Linked(base)],
];

function chainWith(
  make: Making,
  member: Member,
  use: (base: PartitionedRateLimiter<string>, clock: FakeClock) => void,
): { base: PartitionedRateLimiter<string>; chain: PartitionedRateLimiter<string> } {
  const clock = new FakeClock();
  const base = createPartitionedRateLimiter((key: string) => make(key, clock), {
    clock,
    idleTimeoutMs: TIMEOUT_MS,
    maxPartitions: 2,
  });
  const later = createPartitionedRateLimiter(
    (key: string) => {
      // That takes its time.
      clock.advance(1);
      use(base, clock);
      return RateLimitPartition.getNoLimiter(key);
    },
    { clock },
  );
  for (const key of ['ann', 'ann too']) base.attemptAcquire(key).dispose();
  // Idle for as long as may be when the chain looks them up, and for longer when its last member does.
  clock.advance(TIMEOUT_MS);
  return { base, chain: createChainedPartitionedRateLimiter(member(base), later) };
}

describe.each(makings)('a member with partitions (%s) that a later partitioner uses', (_kind, make) => {
  it.each(members)('has one limiter for a key, which nobody ends in between (%s)', (_how, member) => {
    const taken: RateLimitLease[] = [];
    const { base, chain } = chainWith(make, member, (used) => void taken.push(used.attemptAcquire('ann')));
    expect(chain.attemptAcquire('ann').isAcquired).toBe(false);
    expect(taken.map(({ isAcquired }) => isAcquired)).toEqual([true]);
    taken[0]!.dispose();
    expect(base.attemptAcquire('ann').isAcquired).toBe(true);
  });

  it('is asked where another key has needed room', () => {
    const { base, chain } = chainWith(
      make,
      (itself) => itself,
      (used) => void used.attemptAcquire('bob'),
    );
    expect(chain.attemptAcquire('ann').isAcquired).toBe(true);
    expect(base.attemptAcquire('ann').isAcquired).toBe(false);
  });
});
