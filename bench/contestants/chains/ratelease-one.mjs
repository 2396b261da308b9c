import { ConcurrencyLimiter, FixedWindowRateLimiter } from '@ratelease/limiters';

const WINDOW_MS = 600_000;

export const contestant = {
  title: 'one limiter',
  createWindow: ({ limit }) => new FixedWindowRateLimiter({ permitLimit: limit, windowMs: WINDOW_MS }),
  createConcurrency: ({ limit }) => new ConcurrencyLimiter({ permitLimit: limit }),
};
