import {
  chainParticipants,
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  ObjectDisposedError,
  refusedMember,
} from '../../src/index.js';
import { partitionedAlways, Server, UndoableLease } from './remote-limiters.js';

/** Takes no part in the decisions of chains: it is asked like one of another maker. */
class OnItsOwn extends ConcurrencyLimiter {
  override [chainParticipants](): null {
    return null;
  }
}

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

  it('asks those that take from the same permits one after the other, also where it has no other', async () => {
    const server = new Server();
    await createChainedPartitionedRateLimiter(
      server.partitioned('a', 'server', 'same'),
      server.partitioned('b', 'server', 'same'),
    ).acquire('');
    expect(server.log).toEqual(['ask a for 1', 'ask b for 1']);
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

  it('asks together those of one place, those of chains within it too', async () => {
    const server = new Server();
    const here = partitionedAlways(new ConcurrencyLimiter({ permitLimit: 1 }));
    const innermost = createChainedPartitionedRateLimiter(
      server.partitioned('b'),
      server.partitioned('c', 'west'),
    );
    const inner = createChainedPartitionedRateLimiter(here, innermost);
    await createChainedPartitionedRateLimiter(server.partitioned('a'), inner).acquire('');
    expect(server.log).toEqual(['ask a+b for 1', 'ask c for 1']);
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
      [5, 1],
      [98, 2],
      [99, 3],
    ]);
  });

  it('counts a member that is a chain, and is asked alone, as one', async () => {
    const alone = createChainedRateLimiter(...[5, 6].map((permitLimit) => new OnItsOwn({ permitLimit })));
    const chain = createChainedPartitionedRateLimiter(
      new Server().partitioned('a'),
      partitionedAlways(alone),
    );
    const quota = (await chain.acquire('')).quota();
    expect(quota.map(({ limit, member }) => [limit, member])).toEqual([
      [97, 0],
      [5, 1],
      [6, 1],
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

  it('waits for all that it asks one after the other as long as the request may, not for each of them', async () => {
    const server = new Server();
    const chain = createChainedPartitionedRateLimiter(
      ...['north', 'south', 'west'].map((place) => server.partitioned('a', place)),
    );
    server.onAsk = () => server.clock.advance(100);
    await chain.acquire('', 1, { maxWaitMs: 250 });
    server.onAsk = () => server.clock.advance(300);
    await chain.acquire('', 1, { maxWaitMs: 250 });
    await chain.acquire('');
    const waits = server.waits.map(({ maxWaitMs }) => maxWaitMs);
    expect(waits).toEqual([250, 150, 50, 250, 0, 0, Infinity, Infinity, Infinity]);
  });

  it.each([
    ['only limiters that know nothing of chains', [null, null], [250, 150]],
    ['those, and one that is asked before them', [null, 'server', null], [250, 250, 150]],
  ])('waits no longer than it may, by the clock of the system, with %s', async (_with, places, waited) => {
    jest.useFakeTimers();
    const server = new Server();
    const chain = createChainedPartitionedRateLimiter(
      ...places.map((place, index) => server.partitioned('abc'[index]!, place)),
    );
    server.onAsk = () => jest.advanceTimersByTime(100);
    await chain.acquire('', 1, { maxWaitMs: 250 });
    jest.useRealTimers();
    expect(server.waits.map(({ maxWaitMs }) => maxWaitMs)).toEqual(waited);
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
    const error = await chain.acquire('', 2).catch((reason: Error) => reason);
    expect((error as Error).message).toMatch(/limit of 1/);
    expect(refusedMember(error)).toBe(1);
    running.dispose();
    await expect(chain.acquire('')).rejects.toThrow(ObjectDisposedError);
    // That costs no way.
    expect(server.log).toEqual([]);
  });
});
