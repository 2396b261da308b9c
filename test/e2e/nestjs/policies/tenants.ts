import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { RateLimitPartition } from '@ratelease/limiters';
import type { RateLimitingContext } from '@ratelease/nestjs';
import { EnableRateLimiting } from '@ratelease/nestjs';

/** The headers of requests of two tenants. */
export const FREE = { 'x-tenant': 'free' };
export const PAID = { 'x-tenant': 'paid' };

export const tenantOf = (context: RateLimitingContext): string =>
  (context.request as { headers: Record<string, string> }).headers['x-tenant'] ?? 'none';

/** The options of a window of a minute. */
export const window = (permitLimit: number) => () => ({ permitLimit, windowMs: 60_000 });

export const byTenant = (context: RateLimitingContext, limit: number): RateLimitPartition<string> =>
  RateLimitPartition.getFixedWindowLimiter(tenantOf(context), window(limit));

/** How much each tenant has paid for: what policies have injected. */
@Injectable()
export class Plans {
  limitOf(tenant: string): number {
    return tenant === 'paid' ? 3 : 1;
  }
}

@Module({ providers: [Plans], exports: [Plans] })
export class PlansModule {}

/** An endpoint under the policy `named`. */
@Controller()
export class NamedController {
  @Get('named')
  @EnableRateLimiting('named')
  named(): string {
    return 'ok';
  }
}
