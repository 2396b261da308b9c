export type { ConformanceCheck, RateLimiterTraits } from './conformance-check.js';
export { ConformanceError } from './conformance-check.js';
export { FakeClock } from './fake-clock.js';
export { rateLimiterConformance } from './rate-limiter-conformance.js';
