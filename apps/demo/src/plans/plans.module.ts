// A policy class with an injected service: free customers export 2 files at once, paying ones 20.
//
//   curl -Z --parallel-immediate --no-progress-meter -w "  %{http_code}\n" -H "X-Customer: fred" "http://localhost:3000/plans/export?file=[1-3]"
//   curl -Z --parallel-immediate --no-progress-meter -w "  %{http_code}\n" -H "X-Customer: paula" "http://localhost:3000/plans/export?file=[1-21]"
//   curl -s -w "  %{http_code}\n" http://localhost:3000/plans/export
import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { EnableRateLimiting } from '@ratelease/nestjs';
import { Work } from '../work/work.js';
import { CustomerGuard } from './customer.guard.js';
import { Customers } from './customers.js';
import { PlanPolicy } from './plan.policy.js';

@Controller('plans')
@UseGuards(CustomerGuard)
class ExportController {
  readonly #work: Work;

  constructor(work: Work) {
    this.#work = work;
  }

  @Get('export')
  @EnableRateLimiting('plan')
  async export(): Promise<string> {
    await this.#work.takes(2_000);
    return 'Here is your file.';
  }
}

@Module({ controllers: [ExportController], providers: [Customers, CustomerGuard, PlanPolicy] })
export class PlansModule {}
