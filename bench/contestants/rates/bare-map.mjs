/** No limiter: what remembering keys as strings costs by itself, and how long the collector holds the loop for them. */
export const contestant = {
  title: 'no limiter, a Map of keys',
  create() {
    const keys = new Map();
    return {
      decide(key) {
        keys.set(key, keys.size);
        return true;
      },
    };
  },
};
