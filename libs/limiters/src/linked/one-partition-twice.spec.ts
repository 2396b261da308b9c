import { granted, Session, stateOf, visit, VisitLimiter } from '../../conformance/linked/visits.js';
import type { Visit } from '../../conformance/linked/visits.js';
import type { PartitionedRateLimiter } from '../index.js';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  RateLimitPartition,
} from '../index.js';

/** Two sessions for each request: one links its visitor, the other its host. */
class HostLimiter extends VisitLimiter {
  readonly host = new Session();

  protected override getLeaseStore(): Session {
    return this.host;
  }
}

describe.each<
  [name: string, chainOver: (base: PartitionedRateLimiter<Visit>) => PartitionedRateLimiter<Visit>[]]
>([
  ['beside the reference limiter', (base) => [base, new VisitLimiter(base)]],
  ['before the reference limiter', (base) => [new VisitLimiter(base), base]],
  ['beside another linked one', (base) => [new VisitLimiter(base), new HostLimiter(base)]],
])('a request that waits for a linked limiter %s, in one partition', (_name, chainOver) => {
  function setUp() {
    let permitLimit = 2;
    const base = createPartitionedRateLimiter(({ group }: Visit) =>
      RateLimitPartition.getConcurrencyLimiter(group, () => ({ permitLimit, queueLimit: 5 })),
    );
    const members = chainOver(base);
    return {
      base,
      members,
      chain: createChainedPartitionedRateLimiter(...members),
      change(limit: number) {
        permitLimit = limit;
        base.refreshOptions();
      },
      get free() {
        return base.getStatistics(visit(null))!.currentAvailablePermits;
      },
    };
  }

  it.each([2, 3])('takes all its permits under options that change meanwhile, to %d', async (limit) => {
    const trial = setUp();
    const held = granted(trial.base.attemptAcquire(visit(null), 2));
    const session = new Session();
    const waiting = trial.chain.acquire(visit(session));
    trial.change(limit);
    held.dispose();
    expect(await stateOf(waiting)).toBe('granted');
    expect(trial.free).toBe(limit - 2);
    (await waiting).dispose();
    session.dispose();
    for (const member of trial.members) if (member instanceof HostLimiter) member.host.dispose();
    expect(trial.free).toBe(limit);
  });
});
