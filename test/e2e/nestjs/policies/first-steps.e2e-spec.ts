import { Controller, Get } from '@nestjs/common';
import { FakeClock } from '@ratelease/limiters/testing';
import { EnableRateLimiting, RateLimitingModule, byClient } from '@ratelease/nestjs';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

@Controller()
class ReportsController {
  @Get('reports')
  @EnableRateLimiting('burst')
  list(): string {
    return 'reports';
  }

  @Get('free')
  free(): string {
    return 'free';
  }
}

describe.each(PLATFORMS)('a limited endpoint on $name', (platform) => {
  afterEach(stopApps);

  it('answers 429 above the limit and serves again in the next window', async () => {
    const clock = new FakeClock();
    const app = await startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          clock,
          policies: {
            burst: { algorithm: 'fixedWindow', permitLimit: 2, windowMs: 10_000, key: byClient() },
          },
        }),
      ],
      controllers: [ReportsController],
    });

    const answers = [await app.get('/reports'), await app.get('/reports'), await app.get('/reports')];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[0]!.headers).toMatchObject({
      ratelimit: '"burst";r=1;t=10',
      'ratelimit-policy': '"burst";q=2;w=10',
    });
    expect(answers[2]!.headers).toMatchObject({
      ratelimit: '"burst";r=0;t=10',
      'ratelimit-policy': '"burst";q=2;w=10',
      'retry-after': '10',
      'cache-control': 'no-store',
    });
    expect(JSON.parse(answers[2]!.body)).toEqual({ statusCode: 429, message: 'Too many requests.' });

    clock.advance(10_000);
    expect(await app.statuses('/reports', 3)).toEqual([200, 200, 429]);
    expect((await app.get('/free')).headers).not.toHaveProperty('ratelimit');
  });
});
