import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../ports/free-port.js';
import { redisExecutable } from '../programs/redis-executable.js';

/** Ends the server with this process, also where that is killed: no test leaves a server behind. */
export const WITH_PARENT = join(__dirname, 'with-parent.sh');

/** A Redis server of a test's own: a process on the loopback that can be killed, paused and started anew. */
export class RedisServer {
  readonly port: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'ratelease-redis-'));
  readonly #options: readonly string[];
  #process: ChildProcess | undefined = undefined;
  #pid = 0;

  private constructor(port: number, options: readonly string[]) {
    this.port = port;
    this.#options = options;
  }

  /** @param options - more options of the command line. */
  static async start(...options: string[]): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), options);
    await server.start();
    return server;
  }

  /** Starts the process, on the same port as ever, and resolves when it accepts connections. */
  async start(): Promise<void> {
    const options = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const command = [redisExecutable(), ...options, '--dir', this.#folder, ...this.#options];
    const server = spawn('sh', [WITH_PARENT, ...command], { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#process = server;
    await this.#untilReady(createInterface({ input: server.stdout }));
    server.stdout.resume();
  }

  /** The server's process id. */
  get pid(): number {
    return this.#pid;
  }

  /** Ends the process at once, as a crash does. */
  async kill(): Promise<void> {
    const watcher = this.#process;
    if (watcher === undefined) return;
    this.#process = undefined;
    const ended = once(watcher, 'exit');
    watcher.stdin!.end();
    if (watcher.exitCode === null && watcher.signalCode === null) await ended;
  }

  /** Freezes the process: connections stay, nothing answers. */
  pause(): void {
    process.kill(this.#pid, 'SIGSTOP');
  }

  resume(): void {
    process.kill(this.#pid, 'SIGCONT');
  }

  /** The end: the process, and its folder. */
  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #untilReady(lines: AsyncIterable<string>): Promise<void> {
    for await (const line of lines) {
      const pid = /^pid (\d+)$/.exec(line)?.[1];
      if (pid !== undefined) this.#pid = Number(pid);
      if (line.includes('Ready to accept connections')) return;
    }
    throw new Error(`redis-server ended before it was ready on port ${this.port}.`);
  }
}
