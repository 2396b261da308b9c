import { Controller, Get } from '@nestjs/common';
import { EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import { countSignals } from './count-signals.js';
import { PLATFORMS, startApp, stopApps } from './test-app.js';

@Controller()
class ConditionalController {
  @Get('limited')
  @EnableRateLimiting('rate', { when: () => true, permitCount: () => 2 })
  limited(): string {
    return 'limited';
  }

  @Get('exempt')
  @EnableRateLimiting('rate', { when: () => false })
  exempt(): string {
    return 'exempt';
  }

  @Get('promised')
  @EnableRateLimiting('rate', { when: async () => true })
  promised(): string {
    return 'promised';
  }
}

describe.each(PLATFORMS)('a condition on $name', (platform) => {
  afterEach(stopApps);

  it('that answers at once, as a number of permits, prepares no wait for its answer', async () => {
    const app = await startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          policies: { rate: { algorithm: 'fixedWindow', permitLimit: 3, windowMs: 60_000 } },
        }),
      ],
      controllers: [ConditionalController],
    });
    const statuses: number[] = [];
    const signals = async (path: string): Promise<number> =>
      countSignals(async () => void statuses.push((await app.get(path)).status));
    expect(await signals('/limited')).toBe(0);
    expect(await signals('/exempt')).toBe(0);
    expect(await signals('/promised')).toBeGreaterThan(0);
    expect(await signals('/limited')).toBe(0);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});
