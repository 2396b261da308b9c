import { ours } from '../../nest/ours.mjs';

export const contestant = {
  title: 'Ratelease, elsewhere',
  setup: ({ isRefused }) => ours({ isRefused, isLimited: false }),
};
