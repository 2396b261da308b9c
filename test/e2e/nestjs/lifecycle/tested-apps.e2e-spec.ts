import type { CallHandler, INestApplication } from '@nestjs/common';
import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { RateLimitPartition } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import type { IRateLimiterPolicy, RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  EnableRateLimiting,
  RateLimitingGuard,
  RateLimitingInterceptor,
  RateLimitingModule,
  resetRateLimiting,
} from '@ratelease/nestjs';
import { PLATFORMS, TestApp, bootError } from '../fixtures/test-app.js';

@Injectable()
class PlanPolicy implements IRateLimiterPolicy<string> {
  getPartition(): RateLimitPartition<string> {
    return RateLimitPartition.getFixedWindowLimiter('all', () => ({ permitLimit: 1, windowMs: 60_000 }));
  }
}

@Controller()
class SearchController {
  @Get('search')
  @EnableRateLimiting('burst')
  search(): string {
    return 'found';
  }

  @Get('guarded')
  @EnableRateLimiting('burst', { phase: 'guard' })
  guarded(): string {
    return 'guarded';
  }

  @Get('planned')
  @EnableRateLimiting(PlanPolicy)
  planned(): string {
    return 'planned';
  }
}

const burst = { algorithm: 'fixedWindow', permitLimit: 10, windowMs: 60_000 } as const;

describe.each(PLATFORMS)('testing an application with limits on $name', (platform) => {
  const running: INestApplication[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((app) => app.close()));
  });

  async function start(
    options: RateLimitingModuleOptions = {},
    adjust: (builder: ReturnType<typeof Test.createTestingModule>) => unknown = () => undefined,
  ): Promise<TestApp> {
    @Module({
      imports: [RateLimitingModule.forRoot({ policies: { burst }, ...options })],
      controllers: [SearchController],
      providers: [PlanPolicy],
    })
    class RootModule {}
    const builder = Test.createTestingModule({ imports: [RootModule] });
    adjust(builder);
    const app = (await builder.compile()).createNestApplication(platform.adapter(), { logger: false });
    running.push(app);
    await app.listen(0, '127.0.0.1');
    return new TestApp(app);
  }

  const all = (status: number, count: number) => Array<number>(count).fill(status);

  it('shares no state between two testing modules', async () => {
    const [first, second] = [await start(), await start()];
    expect(await first.statuses('/search', 11)).toEqual([...all(200, 10), 429]);
    expect(await second.statuses('/search', 10)).toEqual(all(200, 10));
  });

  it('can be switched off, and the options are checked all the same', async () => {
    const app = await start({
      enabled: false,
      global: { ...burst, permitLimit: 1 },
      globalPhase: 'middleware',
    });
    expect(await app.statuses('/search', 30)).toEqual(all(200, 30));
    expect((await app.get('/search')).headers).not.toHaveProperty('ratelimit');
    const error = await bootError(platform, {
      imports: [RateLimitingModule.forRoot({ enabled: false, policies: { other: burst } })],
      controllers: [SearchController],
    });
    expect(error.code).toBe('ERR_RL_UNKNOWN_POLICY');
  });

  it('can be reset between tests', async () => {
    const app = await start({ global: { ...burst, permitLimit: 12 } });
    for (let test = 0; test < 3; test++) {
      expect(await app.statuses('/search', 11)).toEqual([...all(200, 10), 429]);
      resetRateLimiting(app.app);
    }
  });

  it('is limited no more where guard and interceptor are replaced by overrideProvider()', async () => {
    const app = await start({ policies: { burst: { ...burst, permitLimit: 1 } } }, (builder) =>
      builder
        .overrideProvider(RateLimitingGuard)
        .useValue({ canActivate: () => true })
        .overrideProvider(RateLimitingInterceptor)
        .useValue({ intercept: (_: unknown, next: CallHandler) => next.handle() }),
    );
    expect(await app.statuses('/search', 2)).toEqual(all(200, 2));
    expect(await app.statuses('/guarded', 2)).toEqual(all(200, 2));
  });

  it('can have a policy replaced by overrideProvider()', async () => {
    const app = await start({}, (builder) =>
      builder
        .overrideProvider(PlanPolicy)
        .useValue({ getPartition: () => RateLimitPartition.getNoLimiter('off') }),
    );
    expect(await app.statuses('/planned', 3)).toEqual(all(200, 3));
  });

  it('can drive the time', async () => {
    const clock = new FakeClock();
    const app = await start({ clock });
    expect(await app.statuses('/search', 11)).toEqual([...all(200, 10), 429]);
    clock.advance(60_000);
    expect(await app.statuses('/search', 1)).toEqual([200]);
  });
});
