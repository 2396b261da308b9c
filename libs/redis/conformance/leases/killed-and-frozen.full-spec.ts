import { setTimeout as after } from 'node:timers/promises';
import { limiterOf } from '../oracle/limiter-pair.js';
import type { ClientProcess } from '../processes/client-process.js';
import { ProcessesOnAServer } from '../processes/processes-on-a-server.js';

const LIMIT = 5;
const TTL_MS = 1_000;
const OPTIONS = { permitLimit: LIMIT, queueLimit: 1_000, leaseTtlMs: TTL_MS };
const LASTING_MS = 9_000;
const KILLED_EACH_MS = 1_200;
const FROZEN_MS = 2.5 * TTL_MS;
/** So soon a process that goes on has learned what it lost. */
const LEARNING_MS = 300;

/** Asks for one or two permits, some with patience and some without, and writes into a book what it works with. */
const PROGRAM = `
  const limiter = limiterOf(shared.getConcurrencyLimiter('hammered', () => (${JSON.stringify(OPTIONS)})));
  const book = new (require('ioredis').Redis)(settings.port, '127.0.0.1');
  const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  let isOver = false;
  let works = 0;
  process.once('message', () => (isOver = true));
  say('begins');
  await Promise.all(Array.from({ length: 6 }, async (_, index) => {
    const permits = index % 3 === 0 ? 2 : 1;
    while (!isOver) {
      const lease = await limiter.acquire(permits, index % 4 === 1 ? { maxWaitMs: 50 } : {});
      if (!lease.isAcquired) {
        await after(2);
        continue;
      }
      const work = process.pid + '.' + ++works + '*' + permits;
      lease.signal.addEventListener('abort', () => book.srem('book', work));
      await book.sadd('book', work);
      if (lease.signal.aborted) await book.srem('book', work);
      await after(works % 50 === 0 ? 300 : 8 * Math.random());
      await book.srem('book', work);
      lease.dispose();
    }
  }));
  await shared.dispose();
  close();
  book.disconnect();
  say('ended');
  process.disconnect();
`;

const host = ProcessesOnAServer.forTests();

describe.each(['ioredis', 'node-redis'])('of processes with %s that share a key', (client) => {
  const start = (): ClientProcess => host.start(PROGRAM, { client, options: { commandTimeoutMs: 5_000 } });
  /** Those that don't work, whatever the book says. */
  const idle = new Set<number>();

  async function atWork(): Promise<number> {
    let permits = 0;
    for (const work of await host.client.smembers('book')) {
      const [pid, , count] = work.split(/[.*]/).map(Number);
      if (!idle.has(pid!)) permits += count!;
    }
    return permits;
  }

  test(
    'one is killed again and again, and one stands still for longer than its leases last: the limit holds, and all permits come back',
    async () => {
      const processes = [start(), start(), start()];
      let mortal = start();
      const everybody = [...processes, mortal];
      await Promise.all(everybody.map((one) => one.next()));
      const [sleeper] = processes as [ClientProcess];
      const beganMs = performance.now();
      let killedMs = beganMs;
      let frozenMs = beganMs;
      let most = 0;
      while (performance.now() - beganMs < LASTING_MS) {
        // oxlint-disable-next-line no-await-in-loop -- again and again
        most = Math.max(most, await atWork());
        const nowMs = performance.now();
        if (nowMs - killedMs > KILLED_EACH_MS) {
          killedMs = nowMs;
          idle.add(mortal.pid);
          // oxlint-disable-next-line no-await-in-loop
          await mortal.kill();
          mortal = start();
        }
        if (!idle.has(sleeper.pid) && nowMs - frozenMs > TTL_MS) {
          frozenMs = nowMs;
          idle.add(sleeper.pid);
          sleeper.pause();
        } else if (nowMs - frozenMs > FROZEN_MS + LEARNING_MS) {
          frozenMs = nowMs;
          idle.delete(sleeper.pid);
        } else if (nowMs - frozenMs > FROZEN_MS) sleeper.resume();
        // oxlint-disable-next-line no-await-in-loop
        await after(3);
      }
      sleeper.resume();
      expect(most).toBe(LIMIT);
      idle.add(mortal.pid);
      await mortal.kill();
      for (const one of processes) one.tell('end');
      expect(await Promise.all(processes.map((one) => one.next()))).toEqual(['ended', 'ended', 'ended']);
      const limiter = limiterOf(host.shared.getConcurrencyLimiter('hammered', () => OPTIONS));
      const all = await limiter.acquire(LIMIT);
      expect(all.isAcquired).toBe(true);
      expect((await limiter.acquire(0, { maxWaitMs: 0 })).isAcquired).toBe(false);
      all.dispose();
      // Behind it.
      await limiter.acquire(0);
      expect(await host.client.keys('test:v1:{hammered}:*')).toEqual([]);
      const fields = Object.entries(await host.client.hgetall('test:v1:{hammered}'));
      expect(fields.filter(([name]) => /:[uqw]$/.test(name)).map(([, value]) => value)).toEqual([
        '0',
        '0',
        '0',
      ]);
      await host.client.flushall();
    },
    10 * LASTING_MS,
  );
});
