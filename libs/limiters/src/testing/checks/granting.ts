import { MetadataName } from '../../metadata-name.js';
import type { RateLimitLease } from '../../rate-limit-lease.js';
import { RateLimitLease as Lease } from '../../rate-limit-lease.js';
import { follow, verify } from '../conformance-check.js';
import type { Try } from './arguments.js';

function verifyMetadata(lease: RateLimitLease): void {
  verify(lease instanceof Lease, 'what it answers with is not a RateLimitLease');
  for (const name of lease.metadataNames) {
    const value: unknown = lease.getMetadata(name);
    verify(value !== undefined, `the lease names ${name} but has no value for it`);
    const typed = lease.getMetadata(MetadataName.create(name));
    verify(Object.is(typed, value), `${name} differs between the name and its text`);
  }
  for (const name of ['toString', '__proto__', 'constructor', '']) {
    verify(lease.getMetadata(name) === undefined, `the lease has metadata under the name '${name}'`);
  }
}

/** What a limiter grants and refuses, and what its leases are. */
export const grantingChecks: Readonly<Record<string, Try>> = {
  'grants the whole limit at once, and nothing beyond'(trial) {
    trial.exhaust();
    const refused = trial.limiter.attemptAcquire(1);
    verify(!refused.isAcquired, 'it granted a permit beyond the limit');
  },

  'grants as many single permits as at once'(trial) {
    const granted = trial.takeSingles();
    verify(granted === trial.limit, `it granted ${granted} single permits of a limit of ${trial.limit}`);
  },

  'asks for one permit where no count is given'(trial) {
    const lease = trial.limiter.attemptAcquire();
    verify(lease.isAcquired, 'it refused one permit of a new limiter');
    verify(trial.takeSingles() === trial.limit - 1, 'a request without a count took other than one permit');
  },

  async 'grants at once what is free, also to requests that could wait'(trial) {
    const { lease } = await follow(trial.limiter.acquire(trial.limit));
    verify(lease?.isAcquired === true, 'acquire did not grant what was free');
  },

  'answers a request for no permits by whether one is free, and takes none'(trial) {
    verify(trial.limiter.attemptAcquire(0).isAcquired, 'it refused none of many permits');
    verify(trial.limiter.attemptAcquire(-0).isAcquired, 'it refused -0 permits');
    trial.exhaust();
    verify(!trial.limiter.attemptAcquire(0).isAcquired, 'it granted none while no permit was free');
  },

  async 'has everything again once all is given back'(trial) {
    trial.exhaust();
    await trial.giveBack();
    const granted = trial.takeSingles();
    verify(granted === trial.limit, `after everything was given back it granted ${granted}`);
  },

  'gives back once however often a lease is disposed'(trial) {
    const lease = trial.limiter.attemptAcquire(1);
    trial.take(1);
    for (let time = 0; time < 3; time++) lease.dispose();
    lease[Symbol.dispose]();
    verify(trial.takeSingles() <= trial.limit - 1, 'a lease disposed twice gave back more than it held');
  },

  'gets nothing back from a refused lease'(trial) {
    trial.exhaust();
    const refused = trial.limiter.attemptAcquire(1);
    for (let time = 0; time < 3; time++) refused.dispose();
    verify(trial.takeSingles() === 0, 'disposing a refused lease freed permits');
  },

  'tells metadata under the names it lists, and under no others'(trial) {
    verifyMetadata(trial.exhaust());
    verifyMetadata(trial.limiter.attemptAcquire(1));
  },

  'says honestly when to come back, where it says so'(trial) {
    // What only the disposal of a lease brings back has no time that could be named.
    trial.exhaust().dispose();
    const retryAfterMs = trial.limiter.attemptAcquire(1).getMetadata(MetadataName.retryAfter);
    if (retryAfterMs === undefined) return;
    verify(
      Number.isInteger(retryAfterMs) && retryAfterMs >= 1,
      `RETRY_AFTER must be an integer of at least 1, but is ${retryAfterMs}`,
    );
    trial.clock.advance(retryAfterMs);
    trial.limiter.tryReplenish();
    verify(
      trial.limiter.attemptAcquire(1).isAcquired,
      `it refused again after the ${retryAfterMs} ms it had named`,
    );
  },

  'counts grants and refusals in fresh snapshots, where it counts'(trial) {
    const { limiter, limit } = trial;
    const before = limiter.getStatistics();
    if (before === null) return;
    trial.exhaust();
    limiter.attemptAcquire(1);
    const after = limiter.getStatistics();
    verify(after !== null, 'it has statistics at one time and none at another');
    verify(before.currentAvailablePermits === limit, 'a new limiter must have all its permits available');
    verify(after!.currentAvailablePermits === 0, 'an exhausted limiter must have none available');
    verify(after!.totalSuccessfulLeases > before.totalSuccessfulLeases, 'the grant was not counted');
    verify(after!.totalFailedLeases > before.totalFailedLeases, 'the refusal was not counted');
  },
};
