import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../ports/free-port.js';
import { redisExecutable } from '../programs/redis-executable.js';
import { WITH_PARENT } from './redis-server.js';

/** A sentinel on the loopback that watches one master: it makes a replica the master when that one is down. */
export class RedisSentinel {
  readonly port: number;
  readonly name = 'watched';
  readonly #folder = mkdtempSync(join(tmpdir(), 'ratelease-sentinel-'));
  #process: ChildProcess | undefined = undefined;

  private constructor(port: number) {
    this.port = port;
  }

  /** @param downAfterMs - so long a master must be silent to count as down. */
  static async start(masterPort: number, downAfterMs: number): Promise<RedisSentinel> {
    const sentinel = new RedisSentinel(await freePort());
    await sentinel.#start(masterPort, downAfterMs);
    return sentinel;
  }

  async stop(): Promise<void> {
    const ended = once(this.#process!, 'exit');
    this.#process!.stdin!.end();
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #start(masterPort: number, downAfterMs: number): Promise<void> {
    const file = join(this.#folder, 'sentinel.conf');
    const lines = [
      `port ${this.port}`,
      'bind 127.0.0.1',
      `dir ${this.#folder}`,
      `sentinel monitor ${this.name} 127.0.0.1 ${masterPort} 1`,
      `sentinel down-after-milliseconds ${this.name} ${downAfterMs}`,
      `sentinel failover-timeout ${this.name} 3000`,
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    this.#process = spawn('sh', [WITH_PARENT, redisExecutable(), file, '--sentinel'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    for await (const line of createInterface({ input: this.#process.stdout! }))
      if (line.includes('+monitor')) return;
    throw new Error(`The sentinel ended before it watched port ${masterPort}.`);
  }
}
