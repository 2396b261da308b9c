import { ours } from '../../nest/ours.mjs';

export const contestant = {
  title: 'Ratelease',
  setup: ({ isRefused }) => ours({ isRefused }),
};
