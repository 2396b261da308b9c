// A limit per client, with headers.
//
//   curl -si -w "\n" "http://localhost:3000/per-client?request=[1-6]"
//   curl -si -w "\n" -H "X-Forwarded-For: 203.0.113.7" http://localhost:3000/per-client
import { Controller, Get, Module } from '@nestjs/common';
import { EnableRateLimiting } from '@ratelease/nestjs';

@Controller('per-client')
class PerClientController {
  @Get()
  @EnableRateLimiting('perClient')
  news(): string {
    return 'Here are the news.';
  }
}

@Module({ controllers: [PerClientController] })
export class PerClientModule {}
