import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TranspiledPackages } from '../../../../test/processes/transpiled-packages.js';

/** What the program of a process begins with: `shared`, `client`, `close`, `limiterOf` and `say`. */
const PRELUDE = `
const { createRedisPartitions } = require('@ratelease/redis');
const settings = JSON.parse(process.env.SETTINGS);
const client =
  settings.client === 'node-redis'
    ? require('redis').createClient({ url: 'redis://127.0.0.1:' + settings.port })
    : new (require('ioredis').Redis)(settings.port, '127.0.0.1');
const close = () => (settings.client === 'node-redis' ? client.destroy() : client.disconnect());
const shared = createRedisPartitions({ client, prefix: 'test', ...settings.options });
const limiterOf = (partition) => partition.factory(partition.partitionKey);
const say = (what) => process.send(what);
process.on('unhandledRejection', (error) => say({ unhandled: String(error) }));
process.on('uncaughtException', (error) => say({ uncaught: String(error) }));
`;

let count = 0;

/** How a process differs from others. */
export interface ProcessSettings {
  /** Beside the client and the prefix, for `createRedisPartitions`. */
  readonly options?: object;
  /** Which package its client is of. */
  readonly client?: string;
  /** Arguments of node. */
  readonly execArgv?: string[];
}

/** A process of its own that uses the shared limiters, as another instance of an application does. */
export class ClientProcess {
  readonly #child: ChildProcess;
  readonly #said: unknown[] = [];
  #onSaid: (() => void) | null = null;
  #isOver = false;

  /** @param program - JavaScript that may use what the prelude declares, and await. */
  constructor(packages: TranspiledPackages, port: number, program: string, settings: ProcessSettings = {}) {
    const file = join(packages.folder, `program-${count++}.js`);
    writeFileSync(file, `${PRELUDE}\n(async () => {\n${program}\n})();\n`);
    const env = { ...process.env, SETTINGS: JSON.stringify({ ...settings, port }) };
    this.#child = fork(file, {
      env,
      execArgv: settings.execArgv ?? [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message) => {
      this.#said.push(message);
      this.#onSaid?.();
    });
    // All that it said has been heard by then.
    this.#child.on('disconnect', () => {
      this.#isOver = true;
      this.#onSaid?.();
    });
  }

  /** What it says next. Rejects where it ends without another word: a test that was given up must not wait on. */
  async next(): Promise<unknown> {
    while (this.#said.length === 0) {
      if (this.#isOver) throw new Error('The process has ended, and said nothing more.');
      // oxlint-disable-next-line no-await-in-loop -- until it has said something
      await new Promise<void>((resolve) => (this.#onSaid = resolve));
    }
    return this.#said.shift();
  }

  tell(message: string): void {
    this.#child.send(message);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Freezes it: it is told nothing of that, and its connections stay. */
  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  /** Its exit code, once it has ended by itself. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }

  /** Ends it at once: it gives nothing back. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}
