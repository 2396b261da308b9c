import { setTimeout as after } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { CuttingProxy } from '../../../../test/redis/cutting-proxy.js';
import type { ClientProcess } from '../processes/client-process.js';
import { ProcessesOnAServer } from '../processes/processes-on-a-server.js';

/** Twenty loops that ask a rate and a concurrency limiter without end; told to stop, it says what came out. */
const PROGRAM = `
const rate = limiterOf(shared.getFixedWindowLimiter('rate', () => ({ permitLimit: 1_000_000, windowMs: 3_600_000 })));
const slots = limiterOf(shared.getConcurrencyLimiter('slots', () => ({ permitLimit: 5, queueLimit: 100 })));
process.on('warning', (warning) => say({ warning: warning.name + ': ' + warning.message }));
let isStopped = false;
let isAsked = false;
process.on('message', (message) => (message === 'stop' ? (isStopped = true) : (isAsked = true)));
const told = { granted: 0, refused: 0, slots: 0 };
say('runs');
await Promise.all(Array.from({ length: 20 }, async () => {
  while (!isStopped) {
    const lease = await rate.acquire();
    if (lease.isAcquired) {
      told.granted++;
      if (isAsked) say('works');
      isAsked = false;
    } else {
      told.refused++;
      // While the store is away all are refused at once: asking on and on would take the time that reconnecting needs.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const slot = await slots.acquire(1, { maxWaitMs: 40 });
    if (slot.isAcquired) told.slots++;
    slot.dispose();
    await new Promise(setImmediate);
  }
}));
// It ends by itself: nothing may be left that keeps it alive, or rejects later.
await shared.dispose();
close();
say(told);
process.disconnect();
`;

/** What a process says at its end. */
interface Told {
  readonly granted: number;
  readonly refused: number;
  readonly slots: number;
}

/** What is known once a process has lost its connections so often. */
interface AfterDrops {
  readonly said: unknown;
  readonly exitCode: number | null;
  /** Permits of the rate that the server counts. */
  readonly used: number;
  /** Whether leases of the concurrency limiter are left: 0 or 1. */
  readonly held: number;
}

/**
 * A process with no listeners of its own works through connections that are cut, each with an answer under way, and
 * dies of a rejection that nobody handles.
 */
async function dropConnections(
  host: ProcessesOnAServer,
  { client, drops }: { readonly client: string; readonly drops: number },
): Promise<AfterDrops> {
  const proxy = await CuttingProxy.start(host.server.port);
  const admin = new Redis(host.server.port, '127.0.0.1');
  const settings = {
    client,
    execArgv: ['--unhandled-rejections=strict'],
    options: { prefix: client, commandTimeoutMs: 500 },
  };
  const child = host.start(PROGRAM, settings, proxy.port);
  try {
    expect(await child.next()).toBe('runs');
    for (let drop = 1; drop <= drops; drop++) {
      // Not the greetings of a new connection: who loses those again and again tries more and more rarely.
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await works(child);
      proxy.swallowNext();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      while (proxy.swallowed < drop) await after(1);
    }
    await works(child);
    child.tell('stop');
    const said = await child.next();
    expect(said).toHaveProperty('granted');
    const exitCode = await child.ended();
    const fields = await admin.hgetall(`${client}:v1:{rate}`);
    const used = Object.entries(fields).find(([name]) => name.endsWith(':u'))?.[1];
    const held = await admin.keys(`${client}:v1:{slots}:*leases`);
    return { said, exitCode, used: Number(used), held: held.length };
  } finally {
    await child.kill();
    admin.disconnect();
    proxy.stop();
  }
}

async function works(child: ClientProcess): Promise<void> {
  child.tell('say when it works');
  expect(await child.next()).toBe('works');
}

/** The test, with so many lost connections. */
export function testDroppedConnections(drops: number): void {
  const host = ProcessesOnAServer.forTests();

  test.each(['ioredis', 'node-redis'])(
    `a process of %s outlives ${drops} lost connections under strict rejections, and counts exactly`,
    async (client) => {
      const { said, exitCode, used, held } = await dropConnections(host, { client, drops });
      const { granted, slots } = said as Told;
      expect(exitCode).toBe(0);
      expect(granted).toBeGreaterThan(0);
      expect(slots).toBeGreaterThan(0);
      expect(used).toBe(granted);
      expect(held).toBe(0);
    },
  );
}
