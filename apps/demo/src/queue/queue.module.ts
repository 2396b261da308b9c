// A concurrency limit with a queue: a third client waits, a fourth is refused.
//
//   curl -Z --parallel-immediate --no-progress-meter -w "  %{http_code} after %{time_total} s\n" "http://localhost:3000/queue/report?client=[1-4]"
//   curl -s -w "  %{http_code} after %{time_total} s\n" "http://localhost:3000/queue/report?client=5"
import { Controller, Get, Module } from '@nestjs/common';
import { EnableRateLimiting } from '@ratelease/nestjs';
import { Work } from '../work/work.js';

@Controller('queue')
class ReportController {
  readonly #work: Work;

  constructor(work: Work) {
    this.#work = work;
  }

  @Get('report')
  @EnableRateLimiting('reports')
  async report(): Promise<string> {
    await this.#work.takes(3_000);
    return 'Here is your report.';
  }
}

@Module({ controllers: [ReportController] })
export class QueueModule {}
