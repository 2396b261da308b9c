import { Redis } from 'ioredis';
import { CuttingProxy } from '../../../../test/redis/cutting-proxy.js';
import { ProcessesOnAServer } from '../processes/processes-on-a-server.js';
import { scriptCalls } from '../../../../test/redis/script-calls.js';

/** So long that what a busy machine adds is little beside the third of it that a lost message costs. */
const TTL_MS = 3_000;
const PROCESSES = 3;
/** The prelude's processes speak with a proxy; who works is counted on the server, past all limiters. */
const PROGRAM = `
const { jobs, workMs, ttl } = settings.options.jobs;
const limiter = limiterOf(shared.getConcurrencyLimiter('job', () => ({ permitLimit: 1, queueLimit: 1_000, leaseTtlMs: ttl })));
process.once('message', async () => {
  const told = { done: 0, refused: 0, overlaps: 0, longestMs: 0 };
  const sinceMs = performance.now();
  await Promise.all(Array.from({ length: jobs }, async () => {
    const lease = await limiter.acquire();
    if (!lease.isAcquired) return void told.refused++;
    const working = await client.incr('working');
    if (working !== 1) told.overlaps++;
    await new Promise((resolve) => setTimeout(resolve, workMs));
    await client.decr('working');
    await lease[Symbol.asyncDispose]();
    told.longestMs = Math.max(told.longestMs, performance.now() - sinceMs);
    told.done++;
  }));
  await shared.dispose();
  close();
  say(told);
  process.disconnect();
});
await limiter.acquire(0);
say('ready');
`;

/** How many wait in each process, how long each works, and each how manyth message is lost. */
export interface Losses {
  readonly jobs: number;
  readonly workMs: number;
  readonly lostEach: number;
}

interface Told {
  readonly done: number;
  readonly refused: number;
  readonly overlaps: number;
}

/** Processes whose messages are lost now and then share one permit: everybody is served once, and later by so much. */
export function testLostMessages({ jobs, workMs, lostEach }: Losses): void {
  const host = ProcessesOnAServer.forTests();

  test.each(['ioredis', 'node-redis'])(
    `of ${PROCESSES * jobs} who wait in processes of %s each is served once, also where each ${lostEach}th message is lost`,
    async (client) => {
      const proxy = await CuttingProxy.start(host.server.port);
      const admin = new Redis(host.server.port, '127.0.0.1');
      let messages = 0;
      proxy.loseMessages(() => ++messages % lostEach === 0);
      const settings = {
        client,
        execArgv: ['--unhandled-rejections=strict'],
        options: { prefix: client, commandTimeoutMs: 10_000, jobs: { jobs, workMs, ttl: TTL_MS } },
      };
      const children = Array.from({ length: PROCESSES }, () => host.start(PROGRAM, settings, proxy.port));
      for (const child of children)
        // oxlint-disable-next-line no-await-in-loop -- until all are there
        expect(await child.next()).toBe('ready');
      const before = await scriptCalls(admin);
      const beganMs = performance.now();
      for (const child of children) child.tell('go');
      const told = (await Promise.all(children.map((child) => child.next()))) as Told[];
      const tookMs = performance.now() - beganMs;
      const scripts = (await scriptCalls(admin)) - before;
      admin.disconnect();
      proxy.stop();
      const all = PROCESSES * jobs;
      expect(told).toMatchObject(told.map(() => ({ done: jobs, refused: 0, overlaps: 0 })));
      expect(proxy.lost).toBeGreaterThan(0);
      // Nothing but a renewal, each third of the time of a lease, tells of a message that was lost: not the end of it.
      const mostMs = 2 * all * (workMs + 10) + proxy.lost * (TTL_MS / 2) + TTL_MS;
      expect(tookMs).toBeLessThan(mostMs);
      // One to ask and one to give back, and a renewal now and then.
      expect(scripts / all).toBeLessThan(6);
    },
  );
}
