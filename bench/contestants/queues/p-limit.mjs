import pLimit from 'p-limit';

export const contestant = {
  title: 'p-limit',
  create: ({ limit }) => ({ run: pLimit(limit) }),
};
