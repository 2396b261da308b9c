import LocalStore from '@fastify/rate-limit/store/LocalStore.js';

/** Its store forgets only what was used longest ago, at a fixed size: given room for all keys here. */
export const contestant = {
  title: '@fastify/rate-limit',
  create({ limit, windowMs, keyCount }) {
    const store = new LocalStore(false, false, keyCount);
    let isGranted = false;
    const onCount = (_error, { current }) => {
      isGranted = current <= limit;
    };
    return {
      decide(key) {
        store.incr(key, onCount, windowMs, limit);
        return isGranted;
      },
    };
  },
};
