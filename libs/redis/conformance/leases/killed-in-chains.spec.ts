import type { RateLimitLease } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import type { ClientProcess } from '../processes/client-process.js';
import { ProcessesOnAServer } from '../processes/processes-on-a-server.js';

const LIMIT = 2;
const OPTIONS = { permitLimit: LIMIT, queueLimit: 10, leaseTtlMs: 2_000 };

const host = ProcessesOnAServer.forTests();

/** Takes all permits of a chain when it is told to, and gives them back when it is told so again. */
const program = (keys: readonly string[]): string => `
  const { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } = require('@ratelease/limiters');
  const chain = createChainedPartitionedRateLimiter(...${JSON.stringify(keys)}.map((key, index) =>
    createPartitionedRateLimiter(() =>
      shared.getConcurrencyLimiter(key, () => ({ ...${JSON.stringify(OPTIONS)}, name: 'slots' + index })))));
  const told = () => new Promise((resolve) => process.once('message', resolve));
  const begins = told();
  say('ready');
  await begins;
  const lease = await chain.acquire('', ${LIMIT});
  const goesOn = told();
  say(lease.isAcquired ? 'holds' : 'refused');
  await goesOn;
  lease.dispose();
  await shared.dispose();
  close();
  process.disconnect();
`;

/** The numbers that the server keeps of a key: permits in use, permits that are waited for, waiters. */
async function counts(key: string): Promise<string[]> {
  const fields = Object.entries(await host.client.hgetall(`test:v1:{${key}}`));
  return fields.filter(([name]) => /:[uqw]$/.test(name)).map(([, value]) => value);
}

async function untilWaiting(key: string, waiters: number): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while ((await host.client.hget(`test:v1:{${key}}`, 'slots0:concurrency:w')) !== String(waiters));
}

/** Starts processes that hold and wait, in this order: the first holds all, and the others wait one behind the other. */
async function started(keys: readonly string[], count: number): Promise<ClientProcess[]> {
  const processes = Array.from({ length: count }, () =>
    host.start(program(keys), { options: { commandTimeoutMs: 10_000 } }),
  );
  for (const one of processes)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await one.next()).toBe('ready');
  const [holder, ...waiters] = processes as [ClientProcess, ...ClientProcess[]];
  holder.tell('go');
  expect(await holder.next()).toBe('holds');
  for (const [index, waiter] of waiters.entries()) {
    waiter.tell('go');
    // oxlint-disable-next-line no-await-in-loop
    await untilWaiting(keys[0]!, index + 1);
  }
  return processes;
}

test.each([
  ['of one key', ['joint', 'joint', 'joint']],
  ['over several keys', ['first', 'second', 'third']],
])(
  'who holds permits of a chain %s and who waits at the head are killed: those behind are served, and nothing is lost',
  async (_what, keys) => {
    const [holder, dead, behind] = await started(keys, 3);
    const chain = createChainedPartitionedRateLimiter(
      ...keys.map((key, index) =>
        createPartitionedRateLimiter((_resource: string) =>
          host.shared.getConcurrencyLimiter(key, () => ({ ...OPTIONS, name: `slots${index}` })),
        ),
      ),
    );
    const last = chain.acquire('', LIMIT);
    await untilWaiting(keys[0]!, 3);
    const order: string[] = [];
    const isHeld = behind!.next().then((said) => order.push(String(said)));
    const isMine = last.then((lease: RateLimitLease) => order.push(lease.isAcquired ? 'mine' : 'refused'));
    await Promise.all([holder!.kill(), dead!.kill()]);
    await Promise.race([isHeld, isMine]);
    // Over several keys the two may overtake each other.
    if (new Set(keys).size === 1) expect(order).toEqual(['holds']);
    expect((await chain.acquire('', 1, { maxWaitMs: 0 })).isAcquired).toBe(false);
    expect(order).toHaveLength(1);
    if (order[0] === 'mine') (await last).dispose();
    else behind!.tell('give back');
    await Promise.all([isHeld, isMine]);
    expect([...order].sort()).toEqual(['holds', 'mine']);
    if (order[0] === 'mine') behind!.tell('give back');
    else (await last).dispose();
    expect(await behind!.ended()).toBe(0);
    const all = await chain.acquire('', LIMIT, { maxWaitMs: 0 });
    expect(all.isAcquired).toBe(true);
    all.dispose();
    await chain.acquire('', 0);
    for (const key of new Set(keys)) {
      // oxlint-disable-next-line no-await-in-loop -- key by key
      expect(new Set(await counts(key))).toEqual(new Set(['0']));
      // oxlint-disable-next-line no-await-in-loop
      expect(await host.client.keys(`test:v1:{${key}}:*`)).toEqual([]);
    }
  },
);
