import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { pin } from './pin.mjs';

const LOAD = fileURLToPath(new URL('http-load-process.mjs', import.meta.url));
const SERVER_CORE = 0;
const LOAD_CORE = 1;

/**
 * The processor time that this process, a server, takes for a request. Unlike requests per second it doesn't
 * depend on what else the machine does.
 */
export async function meterOf(port, path) {
  pin(process.pid, SERVER_CORE);
  const load = fork(LOAD, [String(port), path], { execArgv: [] });
  pin(load.pid, LOAD_CORE);
  await once(load, 'message');
  const ask = async (count) => {
    load.send({ count });
    const [{ answered }] = await once(load, 'message');
    return answered;
  };
  return {
    /** The text of a whole response. */
    first: () => ask(1),
    /** @returns {Promise<{ us: number, statuses: Record<string, number> }>} microseconds per request */
    async measure(count) {
      const before = process.cpuUsage();
      const statuses = await ask(count);
      const { user, system } = process.cpuUsage(before);
      return { us: (user + system) / count, statuses };
    },
  };
}
