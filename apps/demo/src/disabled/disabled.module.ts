// An endpoint with limiting disabled.
//
//   curl -s -w "  %{http_code}\n" "http://localhost:3000/disabled/quote?n=[1-2]"
//   curl -si -w "\n" "http://localhost:3000/disabled/health?n=[1-3]"
import { Controller, Get, Module } from '@nestjs/common';
import { DisableRateLimiting, EnableRateLimiting } from '@ratelease/nestjs';

@Controller('disabled')
@EnableRateLimiting('seldom')
class QuoteController {
  @Get('quote')
  quote(): string {
    return 'Slow and steady wins the race.';
  }

  @Get('health')
  @DisableRateLimiting()
  health(): string {
    return 'alive';
  }
}

@Module({ controllers: [QuoteController] })
export class DisabledModule {}
