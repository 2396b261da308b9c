import { createChainedRateLimiter } from '@ratelease/limiters';
import { contestant as one } from './ratelease-one.mjs';

const chain = (make) => (options) => createChainedRateLimiter(make(options), make(options), make(options));

export const contestant = {
  title: 'chain of three',
  createWindow: chain(one.createWindow),
  createConcurrency: chain(one.createConcurrency),
};
