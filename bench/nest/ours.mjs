import { EnableRateLimiting, RateLimitingModule, byClient } from '@ratelease/nestjs';

const WINDOW_MS = 600_000;

/** An application with policies for each client, on the method that answers unless it is said otherwise. */
export function ours({ isRefused, count = 1, phase = 'interceptor', isLimited = true }) {
  const names = Array.from({ length: count }, (_, index) => `policy-${index}`);
  const policy = {
    algorithm: 'fixedWindow',
    permitLimit: isRefused ? 1 : 1_000_000_000,
    windowMs: WINDOW_MS,
    key: byClient(),
  };
  return {
    imports: [
      RateLimitingModule.forRoot({ policies: Object.fromEntries(names.map((name) => [name, policy])) }),
    ],
    decorators: isLimited ? [EnableRateLimiting(names, { phase })] : [],
  };
}
