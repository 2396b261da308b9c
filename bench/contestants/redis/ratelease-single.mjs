import { openOurs } from '../../redis/ours.mjs';

export const contestant = {
  title: 'ratelease, batching: false',
  open: (task) => openOurs(task, { batching: false }),
};
