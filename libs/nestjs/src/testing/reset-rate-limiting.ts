import type { INestApplicationContext } from '@nestjs/common';
import { RateLimitingService } from '../service/rate-limiting.service.js';

/**
 * Makes the limits of an application as new, between two tests: what was spent is back, and leases of requests that
 * still run give nothing back. Limiters that were handed in are reset where they have a method `reset`.
 *
 * @param app - the application, or the testing module.
 */
export function resetRateLimiting(app: INestApplicationContext): void {
  // A promise comes only where the partition of a context is asked for.
  void app.get(RateLimitingService, { strict: false }).reset();
}
