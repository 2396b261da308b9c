import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Injectable, UnauthorizedException } from '@nestjs/common';
import { Customers } from './customers.js';

interface DemoRequest {
  readonly headers: Record<string, string | undefined>;
  user?: { id: string };
}

/** Takes everybody at their word. A real application checks a session or a token. */
@Injectable()
export class CustomerGuard implements CanActivate {
  readonly #customers: Customers;

  constructor(customers: Customers) {
    this.#customers = customers;
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<DemoRequest>();
    const id = request.headers['x-customer'];
    if (id === undefined || !this.#customers.has(id)) {
      throw new UnauthorizedException('Say who you are: X-Customer: fred, or paula.');
    }
    request.user = { id };
    return true;
  }
}
