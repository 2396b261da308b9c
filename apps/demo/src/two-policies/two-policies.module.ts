// Two policies at once: burst and sustained.
//
//   curl -si -w "\n" "http://localhost:3000/two-policies/search?q=[1-5]"
//   curl -si -w "\n" "http://localhost:3000/two-policies/search?q=[6-9]"
import { Controller, Get, Module } from '@nestjs/common';
import { EnableRateLimiting } from '@ratelease/nestjs';

@Controller('two-policies')
class SearchController {
  @Get('search')
  @EnableRateLimiting(['burst', 'sustained'])
  search(): string {
    return 'Nothing found.';
  }
}

@Module({ controllers: [SearchController] })
export class TwoPoliciesModule {}
