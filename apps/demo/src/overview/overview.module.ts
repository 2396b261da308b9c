import { Controller, Get, Header, Headers, Module } from '@nestjs/common';
import { DisableRateLimiting } from '@ratelease/nestjs';
import { SCENARIOS } from '../scenarios.js';
import { overviewText } from './overview-text.js';

@Controller()
@DisableRateLimiting()
class OverviewController {
  /** What there is to try, with the address that this client has reached the demo by. */
  @Get()
  @Header('Content-Type', 'text/plain; charset=utf-8')
  overview(@Headers('host') host: string | undefined): string {
    return overviewText(SCENARIOS, `http://${host ?? 'localhost'}`);
  }
}

@Module({ controllers: [OverviewController] })
export class OverviewModule {}
