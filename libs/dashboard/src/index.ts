export type { RateLimitingDashboardErrorCode } from './errors/rate-limiting-dashboard-error.js';
export { RateLimitingDashboardError } from './errors/rate-limiting-dashboard-error.js';
export type { RateLimitingDashboardOptions } from './module/dashboard-options.js';
export { RateLimitingDashboardModule } from './module/rate-limiting-dashboard.module.js';
export type { KeyDisplay } from './recording/key-display.js';
export type { Recording } from './stream/live-stream.js';
