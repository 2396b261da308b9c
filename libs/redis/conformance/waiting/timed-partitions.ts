import { FakeClock } from '@ratelease/limiters/testing';
import { Redis } from 'ioredis';
import { buildRedisPartitions } from '../../src/create-redis-partitions.js';
import type { RedisPartitions } from '../../src/index.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';

const START_US = 1_783_228_800_123_456;

/** Partitions for each test, with one time for the server and for the waits in this process. */
export class TimedPartitions {
  #server: RedisServer | undefined;
  client!: Redis;
  clock!: FakeClock;
  shared!: RedisPartitions;
  /** Another one in each test. */
  key = '';
  #tests = 0;

  /** Has hooks make and end them. */
  constructor() {
    beforeAll(async () => {
      this.#server = await RedisServer.start();
      this.client = new Redis(this.#server.port, '127.0.0.1');
    });
    beforeEach(() => {
      const clock = new FakeClock();
      this.clock = clock;
      this.key = `key-${++this.#tests}`;
      const now = (): number => START_US + clock.now() * 1_000;
      this.shared = buildRedisPartitions({ client: this.client, commandTimeoutMs: 30_000 }, now);
    });
    afterEach(() => this.shared.dispose());
    afterAll(async () => {
      this.client.disconnect();
      await this.#server?.stop();
    });
  }
}
