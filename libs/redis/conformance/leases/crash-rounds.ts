import { limiterOf } from '../oracle/limiter-pair.js';
import type { ClientProcess } from '../processes/client-process.js';
import { ProcessesOnAServer } from '../processes/processes-on-a-server.js';

const LIMIT = 5;
const OPTIONS = { permitLimit: LIMIT, queueLimit: 100, leaseTtlMs: 1_000, name: 'crash' };
/** Takes all permits, waits for them where it has to, and never gives them back. */
const PROGRAM = `
  const limiter = limiterOf(shared.getConcurrencyLimiter('crash', () => (${JSON.stringify(OPTIONS)})));
  const leases = await Promise.all(Array.from({ length: ${LIMIT} }, () => limiter.acquire()));
  say(leases.every((lease) => lease.isAcquired) ? 'holds' : 'refused');
`;

/** Processes that hold all permits are killed, so many one after the other, each with the next one waiting. */
export function testCrashRounds(rounds: number): void {
  const host = ProcessesOnAServer.forTests();

  test(
    `after ${rounds} crashes of a holder there are as many permits as before`,
    async () => {
      const start = (): ClientProcess => host.start(PROGRAM, { options: { commandTimeoutMs: 10_000 } });
      let holder = start();
      for (let round = 0; round < rounds; round++) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        expect(await holder.next()).toBe('holds');
        const next = start();
        // oxlint-disable-next-line no-await-in-loop
        await holder.kill();
        holder = next;
      }
      expect(await holder.next()).toBe('holds');
      await holder.kill();
      // Long enough to hold them all at once, however long this process stands still.
      const options = { ...OPTIONS, leaseTtlMs: 60_000 };
      const limiter = limiterOf(host.shared.getConcurrencyLimiter('crash', () => options));
      const leases = await Promise.all(Array.from({ length: LIMIT }, () => limiter.acquire()));
      expect(leases.every((lease) => lease.isAcquired)).toBe(true);
      expect((await limiter.acquire(1, { maxWaitMs: 0 })).isAcquired).toBe(false);
      for (const lease of leases) lease.dispose();
      await host.shared.dispose();
      const fields = Object.entries(await host.client.hgetall('test:v1:{crash}'));
      expect(fields.filter(([name]) => /:[uqw]$/.test(name)).map(([, value]) => value)).toEqual([
        '0',
        '0',
        '0',
      ]);
      expect(await host.client.keys('test:v1:{crash}:*')).toEqual([]);
    },
    // A busy machine takes half a minute to start a process: only what hangs takes longer.
    rounds * 60_000,
  );
}
