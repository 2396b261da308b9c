import { Redis } from 'ioredis';
import { RedisServer } from './redis-server.js';
import { scriptCalls } from './script-calls.js';

/** A server for the tests of one file, which tells how many scripts it has run. */
export class TestServer {
  #server!: RedisServer;
  #client: Redis | undefined = undefined;

  /** Starts it before the tests of the file, and stops it after them. */
  static forThisFile(): TestServer {
    const server = new TestServer();
    beforeAll(async () => void (server.#server = await RedisServer.start()));
    afterAll(() => server.#stop());
    return server;
  }

  get port(): number {
    return this.#server.port;
  }

  /** A client of it, for all the tests of the file; connected when it is first asked for. */
  get client(): Redis {
    this.#client ??= new Redis(this.#server.port, '127.0.0.1');
    return this.#client;
  }

  /** How many calls of scripts `run` takes. */
  async callsOf(run: () => Promise<unknown>): Promise<number> {
    const before = await scriptCalls(this.client);
    await run();
    return (await scriptCalls(this.client)) - before;
  }

  /** It answers nothing until {@link TestServer.resume}. */
  pause(): void {
    this.#server.pause();
  }

  resume(): void {
    this.#server.resume();
  }

  async #stop(): Promise<void> {
    this.#client?.disconnect();
    await this.#server.stop();
  }
}
