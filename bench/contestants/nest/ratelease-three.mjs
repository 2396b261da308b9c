import { ours } from '../../nest/ours.mjs';

export const contestant = {
  title: 'Ratelease, three policies',
  setup: ({ isRefused }) => ours({ isRefused, count: 3 }),
};
