import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  FixedWindowRateLimiter,
  MetadataName,
  refusedMember,
  retryAfterOfAll,
} from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';
import { partitionedAlways, Server } from './remote-limiters.js';

describe('a member that refuses, in a chain with limiters that decide elsewhere,', () => {
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

  it('is named too where all are asked by one question', async () => {
    const server = new Server();
    server.refusing.add('b');
    const refused = await createChainedPartitionedRateLimiter(
      server.partitioned('a'),
      server.partitioned('b'),
    ).acquire('');
    expect(refusedMember(refused)).toBe(1);
    expect(retryAfterOfAll(refused)).toBe(500);
    expect(refused.quota().map(({ limit, member }) => [limit, member])).toEqual([
      [97, 0],
      [98, 1],
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
    // They are asked together: nothing was taken from the one before it.
    expect(running.getStatistics()).toMatchObject({ currentAvailablePermits: 1, totalSuccessfulLeases: 0 });
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

describe('a member that fails, in a chain with limiters that decide elsewhere,', () => {
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

  it('has handed on as it is what is no error either', async () => {
    const server = new Server();
    const alone = server.limiter('b', null);
    // oxlint-disable-next-line prefer-promise-reject-errors -- others do
    alone.acquire = () => Promise.reject(null);
    const chain = createChainedPartitionedRateLimiter(server.partitioned('a'), partitionedAlways(alone));
    await expect(chain.acquire('')).rejects.toBeNull();
    expect(server.log).toEqual(['ask a for 1', 'undone a']);
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
