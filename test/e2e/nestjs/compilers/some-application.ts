import { Body, Controller, Get, HttpCode, Inject, Injectable, Module, Post } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import { RateLimitPartition } from '@ratelease/limiters';
import type { IRateLimiterPolicy, RateLimitable } from '@ratelease/nestjs';
import {
  ConcurrencyLimit,
  DisableRateLimiting,
  EnableRateLimiting,
  RateLimitingModule,
  RateLimitingService,
} from '@ratelease/nestjs';

/*
 * An application as a team writes it whose compiler notes no types: whatever is injected is named. The spec translates
 * this file by each compiler, and runs what comes out.
 */

@Injectable()
class Numbers {
  readonly perHour = 2;
}

@Module({ providers: [Numbers], exports: [Numbers] })
class NumbersModule {}

@Injectable()
class HourlyPolicy implements IRateLimiterPolicy<string> {
  constructor(@Inject(Numbers) private readonly numbers: Numbers) {}

  getPartition(): RateLimitPartition<string> {
    const { perHour: permitLimit } = this.numbers;
    return RateLimitPartition.getFixedWindowLimiter('all', () => ({ permitLimit, windowMs: 3_600_000 }));
  }
}

class Query implements RateLimitable {
  constructor(readonly isCheap: boolean) {}

  get isLimit(): boolean {
    return !this.isCheap;
  }
}

@Injectable()
class QueryPipe implements PipeTransform {
  transform({ isCheap }: { isCheap: boolean }): Query {
    return new Query(isCheap);
  }
}

@Controller()
class SomeController {
  constructor(@Inject(RateLimitingService) private readonly service: RateLimitingService) {}

  @Get('hourly')
  @EnableRateLimiting(HourlyPolicy)
  hourly(): string {
    return typeof this.service.acquire;
  }

  @Get('free')
  @EnableRateLimiting('hourly')
  @DisableRateLimiting()
  free(): string {
    return 'free';
  }

  /** Asks itself while it works: so often may it be asked at once. */
  @Post('query')
  @HttpCode(200)
  @ConcurrencyLimit(1)
  async query(@Body(QueryPipe) query: Query): Promise<number[]> {
    return query.isCheap ? [] : [await SomeController.ask(false), await SomeController.ask(true)];
  }

  static ask: (isCheap: boolean) => Promise<number>;
}

@Module({
  imports: [RateLimitingModule.forRoot({ imports: [NumbersModule], policies: { hourly: HourlyPolicy } })],
  controllers: [SomeController],
})
export class AppModule {
  static readonly controller = SomeController;
}
