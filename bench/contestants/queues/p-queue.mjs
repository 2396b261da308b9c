import PQueue from 'p-queue';

export const contestant = {
  title: 'p-queue',
  create({ limit }) {
    const queue = new PQueue({ concurrency: limit });
    return { run: (task, signal) => queue.add(task, signal && { signal }) };
  },
};
