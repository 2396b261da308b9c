import { bulkhead } from 'cockatiel3';

export const contestant = {
  title: 'cockatiel 3',
  create({ limit }) {
    const policy = bulkhead(limit, 1_000_000);
    return { run: (task, signal) => policy.execute(task, signal) };
  },
};
