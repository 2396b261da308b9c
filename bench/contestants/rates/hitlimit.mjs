import { memoryStore } from '@joint-ops/hitlimit/stores/memory';

export const contestant = {
  title: '@joint-ops/hitlimit',
  create({ limit, windowMs }) {
    const store = memoryStore();
    return {
      decide: (key) => store.hit(key, windowMs, limit).count <= limit,
      size: () => store.hits.size,
    };
  },
};
