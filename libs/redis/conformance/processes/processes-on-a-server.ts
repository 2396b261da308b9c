import { Redis } from 'ioredis';
import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { TranspiledPackages } from '../../../../test/processes/transpiled-packages.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';
import type { ProcessSettings } from './client-process.js';
import { ClientProcess } from './client-process.js';

/** A server for the tests of a file or block, and processes that have the packages and use it. */
export class ProcessesOnAServer {
  server!: RedisServer;
  #packages!: TranspiledPackages;
  readonly #processes: ClientProcess[] = [];
  #client: Redis | null = null;
  #shared: RedisPartitions | null = null;

  /** Starts the server before the tests, and stops it after them. */
  static forTests(): ProcessesOnAServer {
    const host = new ProcessesOnAServer();
    beforeAll(() => host.#start());
    afterAll(() => host.#stop());
    return host;
  }

  /** A client of the server, in this process. */
  get client(): Redis {
    return (this.#client ??= new Redis(this.server.port, '127.0.0.1'));
  }

  /** The limiters that the processes share, in this one. */
  get shared(): RedisPartitions {
    // What this process asks first, before it is connected, may take a busy machine long.
    return (this.#shared ??= createRedisPartitions({
      ...{ client: this.client, prefix: 'test', commandTimeoutMs: 10_000 },
    }));
  }

  /** Starts a process that runs the program, by default with a client of this server. */
  start(program: string, settings?: ProcessSettings, port = this.server.port): ClientProcess {
    const process = new ClientProcess(this.#packages, port, program, settings);
    this.#processes.push(process);
    return process;
  }

  async #start(): Promise<void> {
    this.server = await RedisServer.start();
    this.#packages = new TranspiledPackages(['limiters', 'redis'], ['ioredis', 'redis', '@redis']);
  }

  async #stop(): Promise<void> {
    // Those of a test that took too long: without the server they would wait for ever, and Jest for them.
    await Promise.all(this.#processes.map((process) => process.kill()));
    await this.#shared?.dispose();
    this.#client?.disconnect();
    this.#packages.remove();
    await this.server.stop();
  }
}
