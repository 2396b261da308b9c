import { createChainedPartitionedRateLimiter, createChainedRateLimiter } from '@ratelease/limiters';
import { contestant as one } from './ratelease-one.mjs';

const three = (make, options) => [make(options), make(options), make(options)];
const chain = (make) => (options) => createChainedRateLimiter(...three(make, options));

export const contestant = {
  title: 'chain of three',
  createWindow: chain(one.createWindow),
  createConcurrency: chain(one.createConcurrency),
  createPartitions: (options) => createChainedPartitionedRateLimiter(...three(one.createPartitions, options)),
};
