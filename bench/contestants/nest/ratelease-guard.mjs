import { ours } from '../../nest/ours.mjs';

export const contestant = {
  title: 'Ratelease, phase guard',
  setup: ({ isRefused }) => ours({ isRefused, phase: 'guard' }),
};
