import { MemoryStore } from 'express-rate-limit';

export const contestant = {
  title: 'express-rate-limit',
  isAsync: true,
  create({ limit, windowMs }) {
    const store = new MemoryStore();
    store.init({ windowMs });
    return {
      decide: async (key) => (await store.increment(key)).totalHits <= limit,
      size: () => store.current.size + store.previous.size,
    };
  },
};
