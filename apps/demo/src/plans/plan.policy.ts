import { Injectable } from '@nestjs/common';
import { RateLimitPartition } from '@ratelease/limiters';
import type { IRateLimiterPolicy, RateLimitingContext } from '@ratelease/nestjs';
import { Customers } from './customers.js';

const FILES_AT_ONCE = { free: 2, paid: 20 };

/**
 * As many files at once as the customer's plan has. The plan is part of the key: whoever changes it gets a new
 * counter, with the numbers of the new plan.
 */
@Injectable()
export class PlanPolicy implements IRateLimiterPolicy<string> {
  readonly #customers: Customers;

  constructor(customers: Customers) {
    this.#customers = customers;
  }

  async getPartition({ user }: RateLimitingContext): Promise<RateLimitPartition<string>> {
    const { id } = user as { id: string };
    const plan = await this.#customers.planOf(id);
    return RateLimitPartition.getConcurrencyLimiter(`${plan}:${id}`, () => ({
      permitLimit: FILES_AT_ONCE[plan],
    }));
  }
}
