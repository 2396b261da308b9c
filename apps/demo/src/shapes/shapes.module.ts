// A window, a bucket and a queue under the same burst.
//
//   curl -s -w "  %{http_code}\n" "http://localhost:3000/shapes/window?n=[1-25]"
//   curl -s -w "  %{http_code}\n" "http://localhost:3000/shapes/bucket?n=[1-25]"
//   curl -sZ --parallel-immediate --no-progress-meter -w "  %{http_code} after %{time_total} s\n" "http://localhost:3000/shapes/queue?n=[1-25]"
import { Controller, Get, Module } from '@nestjs/common';
import { EnableRateLimiting } from '@ratelease/nestjs';
import { Work } from '../work/work.js';

const WORK_MS = 500;

@Controller('shapes')
class ShapesController {
  readonly #work: Work;

  constructor(work: Work) {
    this.#work = work;
  }

  @Get('window')
  @EnableRateLimiting('window')
  window(): string {
    return 'In this window.';
  }

  @Get('bucket')
  @EnableRateLimiting('bucket')
  bucket(): string {
    return 'There was a token.';
  }

  @Get('queue')
  @EnableRateLimiting('queue')
  async queue(): Promise<string> {
    await this.#work.takes(WORK_MS);
    return 'It was your turn.';
  }
}

@Module({ controllers: [ShapesController] })
export class ShapesModule {}
