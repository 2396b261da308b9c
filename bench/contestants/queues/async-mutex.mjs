import { Semaphore } from 'async-mutex';

export const contestant = {
  title: 'async-mutex',
  create({ limit }) {
    const semaphore = new Semaphore(limit);
    return { run: (task) => semaphore.runExclusive(task) };
  },
};
