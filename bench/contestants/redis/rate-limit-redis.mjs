import { Redis } from 'ioredis';
import { RedisStore } from 'rate-limit-redis';

export const contestant = {
  title: 'rate-limit-redis',
  async open({ port, limits, limit, windowMs }) {
    const client = new Redis(port, '127.0.0.1');
    await client.ping();
    const open = async (factor) => {
      const sendCommand = (...command) => client.call(...command);
      const store = new RedisStore({ sendCommand, prefix: `limit-${factor}:` });
      await store.init({ windowMs: factor * windowMs });
      return async (key) => (await store.increment(key)).totalHits <= limit;
    };
    const one = await open(1);
    const two = await open(2);
    // A middleware for each limit, one after the other.
    return { decide: async (key) => (await one(key)) && (limits === 1 || two(key)) };
  },
};
