import { Redis } from 'ioredis';
import { RedisServer } from '../../../../test/redis/redis-server.js';
import { scriptCalls } from '../../../../test/redis/script-calls.js';

/** A server for the tests of a file, which tells how many scripts it has run. */
export class CountedServer {
  #server!: RedisServer;
  #admin!: Redis;
  client!: Redis;

  /** Starts it before the tests of the file, and stops it after them. */
  static forTests(): CountedServer {
    const counted = new CountedServer();
    beforeAll(() => counted.#start());
    afterAll(() => counted.#stop());
    return counted;
  }

  get port(): number {
    return this.#server.port;
  }

  /** How many calls of scripts `run` takes. */
  async callsOf(run: () => Promise<unknown>): Promise<number> {
    const before = await scriptCalls(this.#admin);
    await run();
    return (await scriptCalls(this.#admin)) - before;
  }

  /** It answers nothing until {@link CountedServer.resume}. */
  pause(): void {
    this.#server.pause();
  }

  resume(): void {
    this.#server.resume();
  }

  async #start(): Promise<void> {
    this.#server = await RedisServer.start();
    this.client = new Redis(this.#server.port, '127.0.0.1');
    this.#admin = new Redis(this.#server.port, '127.0.0.1');
  }

  async #stop(): Promise<void> {
    this.client.disconnect();
    this.#admin.disconnect();
    await this.#server.stop();
  }
}
