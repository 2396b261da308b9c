import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';

const server = TestServer.forThisFile();

/** How often the server was sent the text of a script. */
async function texts(): Promise<number> {
  return Number(/cmdstat_eval:calls=(\d+)/.exec(await server.client.info('commandstats'))?.[1] ?? 0);
}

describe.each(CLIENTS)('a server that has forgotten the scripts, through $name', ({ open, name }) => {
  let opened: OpenClient;
  let shared: RedisPartitions;
  beforeEach(async () => {
    opened = await open(server.port);
    shared = createRedisPartitions({ client: opened.client, commandTimeoutMs: 30_000, batching: false });
  });
  afterEach(async () => {
    await shared.dispose();
    opened.close();
  });

  test('is sent a text once, whatever is on its way, and each decision counts once', async () => {
    const options = { permitLimit: 10, windowMs: 3_600_000 };
    const windows = Array.from({ length: 200 }, (_, index) =>
      limiterOf(shared.getFixedWindowLimiter(`${name} ${index}`, () => options)),
    );
    const all = (): Promise<number[]> =>
      Promise.all(windows.map(async (window) => (await window.acquire()).quota()[0]!.remaining));
    const before = await texts();
    expect(new Set(await all())).toEqual(new Set([9]));
    expect(await texts()).toBe(before + 1);
    await server.client.script('FLUSH', 'SYNC');
    expect(new Set(await all())).toEqual(new Set([8]));
    expect(await texts()).toBe(before + 2);
  });
});
