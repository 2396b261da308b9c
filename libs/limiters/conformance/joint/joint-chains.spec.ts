import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  FixedWindowRateLimiter,
  MetadataName,
  ObjectDisposedError,
  refusedMember,
  retryAfterOfAll,
} from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';
import { partitionedAlways, Server, UndoableLease } from './remote-limiters.js';

describe('a chain with limiters that decide elsewhere', () => {
  it('asks those of one place together, once', async () => {
    const server = new Server();
    const chain = createChainedPartitionedRateLimiter(
      server.partitioned('a'),
      server.partitioned('b'),
      server.partitioned('c'),
    );
    const lease = await chain.acquire('', 2);
    expect(lease.isAcquired).toBe(true);
    expect(server.log).toEqual(['ask a+b+c for 2']);
  });

  it('hands out the lease of the only question as it is', async () => {
    const server = new Server();
    const lease = await createChainedPartitionedRateLimiter(
      server.partitioned('a'),
      server.partitioned('b'),
    ).acquire('');
    expect(lease).toBeInstanceOf(UndoableLease);
    expect(lease.quota()).toMatchObject([
      { limit: 97, member: 0 },
      { limit: 98, member: 1 },
    ]);
  });

  it('asks each place on its own, in the order in which they come first', async () => {
    const server = new Server();
    const chain = createChainedPartitionedRateLimiter(
      server.partitioned('a', 'north'),
      server.partitioned('b', 'south'),
      server.partitioned('c', 'north'),
    );
    expect((await chain.acquire('')).isAcquired).toBe(true);
    expect(server.log).toEqual(['ask a+c for 1', 'ask b for 1']);
  });

  it('asks those that take from the same permits one after the other', async () => {
    const server = new Server();
    const chain = createChainedPartitionedRateLimiter(
      server.partitioned('a', 'server', 'same'),
      server.partitioned('b', 'server', 'same'),
      server.partitioned('c', 'server', 'other'),
    );
    await chain.acquire('');
    expect(server.log).toEqual(['ask a for 1', 'ask b+c for 1']);
  });

  it('asks who offers no joint decision alone', async () => {
    const server = new Server();
    const chain = createChainedPartitionedRateLimiter(
      server.partitioned('a'),
      server.partitioned('b', null),
      server.partitioned('c'),
    );
    await chain.acquire('', 3);
    expect(server.log).toEqual(['ask a+c for 3', 'ask b for 3']);
  });

  it('asks those in this process last, together, and charges none of them before', async () => {
    const server = new Server();
    const [one, other] = [2, 3].map((permitLimit) => new ConcurrencyLimiter({ permitLimit }));
    const chain = createChainedPartitionedRateLimiter(
      partitionedAlways(one!),
      server.partitioned('a'),
      partitionedAlways(other!),
    );
    server.refusing.add('a');
    expect((await chain.acquire('')).isAcquired).toBe(false);
    expect(one!.getStatistics()).toMatchObject({ currentAvailablePermits: 2, totalSuccessfulLeases: 0 });
    server.refusing.clear();
    const lease = await chain.acquire('');
    expect([one!, other!].map((limiter) => limiter.getStatistics().currentAvailablePermits)).toEqual([1, 2]);
    lease.dispose();
    expect([one!, other!].map((limiter) => limiter.getStatistics().currentAvailablePermits)).toEqual([2, 3]);
    expect(server.log.at(-1)).toBe('disposed a');
  });

  it('says which member each entry of the quota belongs to', async () => {
    const server = new Server();
    const running = new ConcurrencyLimiter({ permitLimit: 5 });
    const chain = createChainedPartitionedRateLimiter(
      server.partitioned('a', 'north'),
      partitionedAlways(running),
      server.partitioned('b', 'south'),
      server.partitioned('c', 'north'),
    );
    const quota = (await chain.acquire('')).quota();
    expect(quota.map(({ limit, member }) => [limit, member])).toEqual([
      [97, 0],
      [99, 3],
      [98, 2],
      [5, 1],
    ]);
  });

  it('tells each what bounds the wait', async () => {
    const server = new Server();
    const { signal } = new AbortController();
    const chain = createChainedPartitionedRateLimiter(server.partitioned('a'), server.partitioned('b', null));
    await chain.acquire('', 1, { signal, maxWaitMs: 250 });
    expect(server.waits).toHaveLength(2);
    for (const wait of server.waits) expect(wait).toMatchObject({ signal, maxWaitMs: 250 });
  });

  it('waits here for those that are here', async () => {
    const server = new Server();
    const running = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
    const held = running.attemptAcquire();
    const waiting = createChainedPartitionedRateLimiter(
      server.partitioned('a'),
      partitionedAlways(running),
    ).acquire('');
    await new Promise((resolve) => void setImmediate(resolve));
    expect(running.getStatistics().currentQueuedCount).toBe(1);
    held.dispose();
    expect((await waiting).isAcquired).toBe(true);
  });

  it('judges counts and ends of those that are here', async () => {
    const server = new Server();
    const running = new ConcurrencyLimiter({ permitLimit: 1 });
    const chain = createChainedPartitionedRateLimiter(server.partitioned('a'), partitionedAlways(running));
    await expect(chain.acquire('', 2)).rejects.toThrow(/limit of 1/);
    running.dispose();
    await expect(chain.acquire('')).rejects.toThrow(ObjectDisposedError);
    expect(server.log).toEqual(['ask a for 2', 'undone a', 'ask a for 1', 'undone a']);
  });
});

describe('a member of such a chain that refuses', () => {
  it('is named, with the quota of those that were asked with it', async () => {
    const server = new Server();
    server.refusing.add('c');
    const chain = createChainedPartitionedRateLimiter(
      server.partitioned('a', 'north'),
      server.partitioned('b', 'south'),
      server.partitioned('c', 'south'),
    );
    const refused = await chain.acquire('');
    expect(refused.isAcquired).toBe(false);
    expect(refusedMember(refused)).toBe(2);
    expect(refused.getMetadata(MetadataName.retryAfter)).toBe(40);
    expect(retryAfterOfAll(refused)).toBe(500);
    refused.dispose();
    expect(server.log.at(-1)).toBe('disposed b+c');
    expect(refused.quota().map(({ limit, member }) => [limit, member])).toEqual([
      [98, 1],
      [99, 2],
    ]);
  });

  it('is named too where it was asked alone', async () => {
    const server = new Server();
    server.refusing.add('b');
    const refused = await createChainedPartitionedRateLimiter(
      server.partitioned('a'),
      server.partitioned('b', null),
    ).acquire('');
    expect(refusedMember(refused)).toBe(1);
    expect(retryAfterOfAll(refused)).toBe(40);
  });

  it('is named too where it is here', async () => {
    const server = new Server();
    const clock = new FakeClock();
    const rate = new FixedWindowRateLimiter({ permitLimit: 2, windowMs: 1_000, clock });
    const running = new ConcurrencyLimiter({ permitLimit: 1 });
    const chain = createChainedPartitionedRateLimiter(
      partitionedAlways(running),
      server.partitioned('a'),
      partitionedAlways(rate),
    );
    rate.attemptAcquire(2);
    const refused = await chain.acquire('');
    expect(refusedMember(refused)).toBe(2);
    expect(retryAfterOfAll(refused)).toBe(1_000);
    expect(running.getStatistics().currentAvailablePermits).toBe(1);
  });

  it('takes back what others granted before, the last first, and asks nobody after it', async () => {
    const server = new Server();
    server.refusing.add('c');
    const running = new ConcurrencyLimiter({ permitLimit: 1 });
    const chain = createChainedPartitionedRateLimiter(
      ...['a', 'b', 'c', 'd'].map((name) => server.partitioned(name, name)),
      partitionedAlways(running),
    );
    expect((await chain.acquire('')).isAcquired).toBe(false);
    expect(server.log).toEqual(['ask a for 1', 'ask b for 1', 'ask c for 1', 'undone b', 'undone a']);
    expect(running.getStatistics().totalSuccessfulLeases).toBe(0);
  });

  it('has leases disposed that can not be taken back', async () => {
    const server = new Server();
    server.canUndo = false;
    server.refusing.add('b');
    await createChainedPartitionedRateLimiter(
      server.partitioned('a', 'north'),
      server.partitioned('b', 'south'),
    ).acquire('');
    expect(server.log).toEqual(['ask a for 1', 'ask b for 1', 'disposed a']);
  });

  it('hides no failure to take back', async () => {
    const server = new Server();
    server.refusing.add('c');
    server.undoError = new Error('it is gone');
    const chain = createChainedPartitionedRateLimiter(
      ...['a', 'b', 'c'].map((name) => server.partitioned(name, name)),
    );
    const failure = (await chain.acquire('').catch((error: unknown) => error)) as AggregateError;
    expect(failure.errors).toEqual([server.undoError, server.undoError]);
    expect(failure.message).toBe('Several members of a chain failed.');
    expect(server.log.slice(3)).toEqual(['undone b', 'undone a']);
  });
});

describe('a member of such a chain that fails', () => {
  it('has what others granted taken back, and its error handed on as it is', async () => {
    const server = new Server();
    server.failing = 'b';
    const chain = createChainedPartitionedRateLimiter(
      server.partitioned('a', 'north'),
      server.partitioned('b', 'south'),
    );
    await expect(chain.acquire('')).rejects.toThrow(new Error('b failed'));
    expect(server.log).toEqual(['ask a for 1', 'ask b for 1', 'undone a']);
  });

  it('has its error come after those of taking back', async () => {
    const server = new Server();
    server.failing = 'b';
    server.undoError = new Error('it is gone');
    const chain = createChainedPartitionedRateLimiter(
      server.partitioned('a', 'north'),
      server.partitioned('b', 'south'),
    );
    const failure = (await chain.acquire('').catch((error: unknown) => error)) as AggregateError;
    expect(failure.errors).toEqual([server.undoError, new Error('b failed')]);
    expect(failure.message).toBe('Several members of a chain failed.');
  });
});
