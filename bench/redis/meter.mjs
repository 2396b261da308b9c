// What decisions cost both sides: processor time of this process and of the server, commands and bytes.
import { getHeapSpaceStatistics } from 'node:v8';
import { Redis } from 'ioredis';

/** How much stands in the part of the heap for what has outlived two collections of young objects. */
function oldBytes() {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space').space_used_size;
}

/** What the server has done so far, by its own account. */
export async function openMeter(port) {
  const admin = new Redis(port, '127.0.0.1');
  const read = async () => {
    const text = await admin.info('everything');
    const numberOf = (name) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1] ?? 0);
    const callsOf = (command) => Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(text)?.[1] ?? 0);
    const { user, system } = process.cpuUsage();
    return {
      clientUs: user + system,
      serverUs: 1e6 * (numberOf('used_cpu_user') + numberOf('used_cpu_sys')),
      commands: callsOf('eval') + callsOf('evalsha'),
      bytes: numberOf('total_net_input_bytes') + numberOf('total_net_output_bytes'),
      wallMs: performance.now(),
    };
  };
  return {
    /** The figures of so many decisions, each. */
    async measure(decisions, run) {
      // The text that the server answers with is long, and counts as bytes of the next reading.
      const idle = [await read(), await read()];
      const [before] = [idle[1]];
      const oldBefore = oldBytes();
      await run();
      const oldAfter = oldBytes();
      const after = await read();
      const each = (key) => (after[key] - before[key]) / decisions;
      return {
        clientUs: each('clientUs'),
        serverUs: each('serverUs'),
        commands: each('commands'),
        bytes: each('bytes') - (idle[1].bytes - idle[0].bytes) / decisions,
        thousandsPerSecond: 1 / each('wallMs'),
        // Less than before where a full collection has come in between: the median leaves those rounds out.
        oldBytes: (oldAfter - oldBefore) / decisions,
      };
    },
  };
}
