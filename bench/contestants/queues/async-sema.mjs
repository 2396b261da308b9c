import { Sema } from 'async-sema';

export const contestant = {
  title: 'async-sema',
  create({ limit }) {
    const semaphore = new Sema(limit);
    return {
      async run(task) {
        await semaphore.acquire();
        try {
          return await task();
        } finally {
          semaphore.release();
        }
      },
      async runSync(work) {
        await semaphore.acquire();
        try {
          return work();
        } finally {
          semaphore.release();
        }
      },
    };
  },
};
