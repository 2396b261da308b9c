import { ours } from '../../nest/ours.mjs';

export const contestant = {
  title: 'Ratelease, ten policies',
  setup: ({ isRefused }) => ours({ isRefused, count: 10 }),
};
