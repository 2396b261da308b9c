import { openOurs } from '../../redis/ours.mjs';

export const contestant = {
  title: 'ratelease, bucket',
  open: (task) => openOurs(task, { isBucket: true, batching: false }),
};
