import { openOurs } from '../../redis/ours.mjs';

export const contestant = {
  title: 'ratelease, bucket, batching: false',
  open: (task) => openOurs(task, { isBucket: true, batching: false }),
};
