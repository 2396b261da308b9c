import { bulkhead } from 'cockatiel';

export const contestant = {
  title: 'cockatiel 4',
  create({ limit }) {
    const policy = bulkhead(limit, 1_000_000);
    return { run: (task, signal) => policy.execute(task, signal) };
  },
};
