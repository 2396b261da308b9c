import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TranspiledPackages } from '../../../../test/processes/transpiled-packages.js';

/** What the program of a process begins with: `shared`, `client`, `limiter` and `say`. */
const PRELUDE = `
const { Redis } = require('ioredis');
const { createRedisPartitions } = require('@ratelease/redis');
const client = new Redis(Number(process.env.PORT), '127.0.0.1');
const shared = createRedisPartitions({ client, prefix: 'test', ...JSON.parse(process.env.OPTIONS) });
const limiterOf = (partition) => partition.factory(partition.partitionKey);
const say = (what) => process.send(what);
process.on('unhandledRejection', (error) => say({ unhandled: String(error) }));
process.on('uncaughtException', (error) => say({ uncaught: String(error) }));
`;

let count = 0;

/** A process of its own that uses the shared limiters, as another instance of an application does. */
export class ClientProcess {
  readonly #child: ChildProcess;
  readonly #said: unknown[] = [];
  #onSaid: (() => void) | null = null;

  /** @param program - JavaScript that may use what the prelude declares, and await. */
  constructor(packages: TranspiledPackages, port: number, program: string, options: object = {}) {
    const file = join(packages.folder, `program-${count++}.js`);
    writeFileSync(file, `${PRELUDE}\n(async () => {\n${program}\n})();\n`);
    const env = { ...process.env, PORT: String(port), OPTIONS: JSON.stringify(options) };
    this.#child = fork(file, { env, execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child.on('message', (message) => {
      this.#said.push(message);
      this.#onSaid?.();
    });
  }

  /** What it says next. */
  async next(): Promise<unknown> {
    while (this.#said.length === 0) {
      // oxlint-disable-next-line no-await-in-loop -- until it has said something
      await new Promise<void>((resolve) => (this.#onSaid = resolve));
    }
    return this.#said.shift();
  }

  tell(message: string): void {
    this.#child.send(message);
  }

  /** Ends it at once: it gives nothing back. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}
