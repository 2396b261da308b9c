import { openOurs } from '../../redis/ours.mjs';

export const contestant = { title: 'ratelease', open: (task) => openOurs(task, {}) };
