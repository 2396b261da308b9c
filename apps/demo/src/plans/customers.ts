import { Injectable } from '@nestjs/common';

/** What a customer has booked. */
export type Plan = 'free' | 'paid';

/** Knows the customers: a database, in a real application. */
@Injectable()
export class Customers {
  readonly #plans = new Map<string, Plan>([
    ['fred', 'free'],
    ['paula', 'paid'],
  ]);

  /** Whether there is such a customer. */
  has(id: string): boolean {
    return this.#plans.has(id);
  }

  /** The plan of a customer; asynchronous, as a real look-up is. */
  async planOf(id: string): Promise<Plan> {
    return this.#plans.get(id) ?? 'free';
  }
}
