import { ConcurrencyLimiter } from '@ratelease/limiters';

export const contestant = {
  title: 'ratelease',
  create({ limit }) {
    const limiter = new ConcurrencyLimiter({ permitLimit: limit, queueLimit: 1_000_000 });
    return {
      async run(task, signal) {
        const lease = await limiter.acquire(1, signal && { signal });
        try {
          return await task();
        } finally {
          lease.dispose();
        }
      },
      async runSync(work) {
        const lease = await limiter.acquire();
        try {
          return work();
        } finally {
          lease.dispose();
        }
      },
    };
  },
};
