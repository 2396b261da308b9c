import type { ClientProcess } from '../processes/client-process.js';
import { ProcessesOnAServer } from '../processes/processes-on-a-server.js';

const LIMIT = 200;
const PARTITIONS: Record<string, string> = {
  fixedWindow: `shared.getFixedWindowLimiter('hot', () => ({ permitLimit: ${LIMIT}, windowMs: 600_000 }))`,
  slidingWindow: `shared.getSlidingWindowLimiter('hot', () => ({ permitLimit: ${LIMIT}, windowMs: 600_000, segmentsPerWindow: 10 }))`,
  tokenBucket: `shared.getTokenBucketLimiter('hot', () => ({ tokenLimit: ${LIMIT}, tokensPerPeriod: 1, replenishmentPeriodMs: 600_000 }))`,
  concurrency: `shared.getConcurrencyLimiter('hot', () => ({ permitLimit: ${LIMIT} }))`,
};

const host = ProcessesOnAServer.forTests();

test('four processes with clocks an hour apart that hammer one key get exactly the limit of each algorithm', async () => {
  const program = `
    const partitions = { ${Object.entries(PARTITIONS)
      .map(([name, partition]) => `${name}: ${partition}`)
      .join()} };
    // No clock of a client's matters.
    const skew = process.pid % 2 === 0 ? 3_600_000 : -3_600_000;
    const now = Date.now;
    Date.now = () => now() + skew;
    const granted = {};
    for (const [name, partition] of Object.entries(partitions)) {
      const limiter = limiterOf(partition);
      granted[name] = 0;
      for (let turn = 0; turn < 10; turn++) {
        const leases = await Promise.all(Array.from({ length: 30 }, () => limiter.acquire()));
        granted[name] += leases.filter((lease) => lease.isAcquired).length;
      }
    }
    say(granted);
  `;
  // The limits are exact; how long a machine under load takes to connect is another matter.
  const settings = { options: { commandTimeoutMs: 10_000 } };
  const processes = Array.from({ length: 4 }, () => host.start(program, settings));
  const granted = (await Promise.all(processes.map((one) => one.next()))) as Record<string, number>[];
  await Promise.all(processes.map((one) => one.kill()));
  const sums = Object.fromEntries(
    Object.keys(PARTITIONS).map((name) => [name, granted.reduce((sum, one) => sum + one[name]!, 0)]),
  );
  expect(sums).toEqual(Object.fromEntries(Object.keys(PARTITIONS).map((name) => [name, LIMIT])));
});

test('four processes that reserve ahead get the limit and no more, and one that crashes takes at most its reserve', async () => {
  const partition = `shared.getFixedWindowLimiter('ahead', () => ({
    permitLimit: 2_000, windowMs: 600_000, reserveAhead: 25, instances: 4,
  }))`;
  const program = (end: string): string => `
    const limiter = limiterOf(${partition});
    let granted = 0;
    for (let turn = 0; turn < 100; turn++) {
      const leases = await Promise.all([limiter.acquire(), limiter.acquire(), limiter.acquire()]);
      granted += leases.filter((lease) => lease.isAcquired).length;
    }
    ${end}
    say(granted);
  `;
  const settings = { options: { commandTimeoutMs: 10_000 } };
  const start = (end: string): ClientProcess => host.start(program(end), settings);
  const processes = [start(''), start(''), start(''), start('await shared.dispose();')];
  const granted = (await Promise.all(
    processes.map(async (one) => {
      const count = await one.next();
      await one.kill();
      return count;
    }),
  )) as number[];
  expect(granted).toEqual([300, 300, 300, 300]);
  const last = host.start(
    `
    const limiter = limiterOf(${partition});
    let granted = 0;
    while ((await limiter.acquire()).isAcquired) granted++;
    say(granted);
  `,
    settings,
  );
  const rest = (await last.next()) as number;
  await last.kill();
  expect(rest).toBeLessThanOrEqual(800);
  expect(rest).toBeGreaterThanOrEqual(800 - 3 * 25);
});
