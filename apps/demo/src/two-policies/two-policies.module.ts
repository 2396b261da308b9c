// Two policies at once: burst and sustained.
//
//   curl -si "http://localhost:3000/two-policies/search?q=[1-5]"
//   curl -si "http://localhost:3000/two-policies/search?q=[6-9]"
import { Controller, Get, Module } from '@nestjs/common';
import { EnableRateLimiting } from '@ratelease/nestjs';

@Controller('two-policies')
class SearchController {
  @Get('search')
  @EnableRateLimiting(['burst', 'sustained'])
  search(): string {
    return 'Nothing found.\n';
  }
}

@Module({ controllers: [SearchController] })
export class TwoPoliciesModule {}
