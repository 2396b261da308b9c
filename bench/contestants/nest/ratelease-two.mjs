import { ours } from '../../nest/ours.mjs';

export const contestant = {
  title: 'Ratelease, two policies',
  setup: ({ isRefused }) => ours({ isRefused, count: 2 }),
};
