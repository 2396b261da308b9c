import { Controller, Get } from '@nestjs/common';
import { EnableRateLimiting, RateLimitingService } from '@ratelease/nestjs';
import { AppService } from './app.service';

@Controller()
export class AppController {
  constructor(
    private readonly appService: AppService,
    private readonly limits: RateLimitingService,
  ) {}

  @Get()
  @EnableRateLimiting(['perClient', 'atOnce'], { maxWaitMs: 1_000 })
  getHello(): string {
    return this.appService.getHello();
  }

  @Get('granted')
  getGranted(): number {
    return this.limits.overview().find(({ policy }) => policy === 'perClient')!.granted;
  }
}
