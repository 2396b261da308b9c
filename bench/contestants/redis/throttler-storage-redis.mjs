import { ThrottlerStorageRedisService } from '@nest-lab/throttler-storage-redis';
import { Redis } from 'ioredis';

export const contestant = {
  title: '@nest-lab/throttler-storage-redis',
  async open({ port, limits, limit, windowMs }) {
    const client = new Redis(port, '127.0.0.1');
    await client.ping();
    const storage = new ThrottlerStorageRedisService(client);
    const ask = async (key, factor) => {
      const { isBlocked } = await storage.increment(key, factor * windowMs, limit, 0, `limit-${factor}`);
      return !isBlocked;
    };
    // The guard asks its throttlers one after the other.
    return { decide: async (key) => (await ask(key, 1)) && (limits === 1 || ask(key, 2)) };
  },
};
