// What is loaded by `import` and by `require` in one process: two copies of the package that must know each other.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { FakeClock } from '@ratelease/limiters/testing';

const imported = await import('@ratelease/limiters');
const required = createRequire(import.meta.url)('@ratelease/limiters');
const SIDES = [
  [imported, required],
  [required, imported],
];

test('there are two copies', () => {
  assert.notEqual(imported.RateLimiter, required.RateLimiter);
});

test('a chain of one copy takes limiters of the other: all or nothing, and nothing held while it waits', async () => {
  for (const [ours, theirs] of SIDES) {
    const rate = new theirs.FixedWindowRateLimiter({ permitLimit: 3, windowMs: 3_600_000 });
    const atOnce = new theirs.ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
    const chain = ours.createChainedRateLimiter(rate, atOnce);
    const first = chain.attemptAcquire();
    assert.equal(first.isAcquired, true);
    assert.equal(chain.attemptAcquire().isAcquired, false);
    const waiting = chain.acquire();
    // Neither the refusal nor the wait has cost the rate anything.
    assert.equal(rate.getStatistics().currentAvailablePermits, 2);
    first.dispose();
    const second = await waiting;
    assert.equal(second.isAcquired, true);
    assert.equal(rate.getStatistics().currentAvailablePermits, 1);
    assert.equal(second.quota().length, 2);
    second.dispose();
    assert.equal(atOnce.getStatistics().currentAvailablePermits, 1);
  }
});

test('limiters of both copies take turns in the order in which they were made', async () => {
  const limiters = [imported, required, imported, required].map(
    (copy) => new copy.ConcurrencyLimiter({ permitLimit: 1, queueLimit: 100 }),
  );
  const chains = [
    required.createChainedRateLimiter(...limiters),
    imported.createChainedRateLimiter(...limiters.toReversed()),
  ];
  let served = 0;
  const worker = async (chain) => {
    for (let turn = 0; turn < 20; turn++) {
      const lease = await chain.acquire();
      await Promise.resolve();
      served++;
      lease.dispose();
    }
  };
  await Promise.all(chains.flatMap((chain) => [worker(chain), worker(chain), worker(chain)]));
  assert.equal(served, 120);
});

test('a partitioned limiter of one copy takes the partitions of the other', () => {
  const clock = new FakeClock();
  for (const [ours, theirs] of SIDES) {
    const limiter = ours.createPartitionedRateLimiter((key) =>
      theirs.RateLimitPartition.getTokenBucketLimiter(key, () => ({
        tokenLimit: 1,
        tokensPerPeriod: 1,
        replenishmentPeriodMs: 60_000,
        clock,
      })),
    );
    const [granted, refused] = [limiter.attemptAcquire('ann'), limiter.attemptAcquire('ann')];
    assert.deepEqual([granted.isAcquired, refused.isAcquired], [true, false]);
    assert.equal(refused.getMetadata(theirs.MetadataName.retryAfter), 60_000);
    limiter.dispose();
  }
});

test('limiters, leases and errors are recognised by the classes of the other copy', async () => {
  for (const [ours, theirs] of SIDES) {
    const limiter = new ours.ConcurrencyLimiter({ permitLimit: 1 });
    assert.ok(limiter instanceof theirs.RateLimiter);
    assert.ok(limiter.attemptAcquire() instanceof theirs.RateLimitLease);
    assert.throws(() => limiter.attemptAcquire(2), theirs.isRateLimitError);
    limiter.dispose();
    await assert.rejects(limiter.acquire(), (error) => error instanceof theirs.ObjectDisposedError);
  }
});
