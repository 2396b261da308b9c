import { createRedisPartitions } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { TestServer } from '../../../../test/redis/test-server.js';

const server = TestServer.forThisFile();

/** How many calls a lease takes whose request is aborted before the answer, while so many permits are held. */
function callsOfAborted(key: string, held: number): Promise<number> {
  const shared = createRedisPartitions({ client: server.client, commandTimeoutMs: 30_000 });
  const slots = limiterOf(shared.getConcurrencyLimiter(key, () => ({ permitLimit: 1 })));
  const aborting = new AbortController();
  return server.callsOf(async () => {
    if (held > 0) await slots.acquire(held);
    server.pause();
    const asked = slots.acquire(1, { signal: aborting.signal });
    await new Promise(setImmediate);
    aborting.abort();
    await expect(asked).rejects.toThrow(/abort/i);
    await new Promise(setImmediate);
    server.resume();
    await shared.dispose();
  });
}

test('a lease that nobody waits for any more is given back once', async () => {
  expect(await callsOfAborted('granted', 0)).toBe(2);
});

test('nothing is given back of a request that was refused after it was aborted', async () => {
  // The one that is held, and its end.
  expect(await callsOfAborted('refused', 1)).toBe(2 + 1);
});
