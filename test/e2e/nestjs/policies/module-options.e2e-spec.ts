import { Controller, Get, Inject, Injectable, Module } from '@nestjs/common';
import { RateLimitPartition } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimiterOptions, RateLimitingContext, RateLimitingOptionsFactory } from '@ratelease/nestjs';
import { EnableRateLimiting, RateLimitingModule, byHeader } from '@ratelease/nestjs';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { FREE, NamedController, PAID, Plans, PlansModule, byTenant, tenantOf, window } from './tenants.js';

describe.each(PLATFORMS)('the options on $name', (platform) => {
  afterEach(stopApps);

  it('is built step by step by a configuration callback', async () => {
    const configure = (options: RateLimiterOptions): void => {
      options.clock = new FakeClock();
      options
        .addFixedWindowLimiter('fixed', { permitLimit: 1, windowMs: 1_000 })
        .addSlidingWindowLimiter('sliding', { permitLimit: 1, windowMs: 1_000, segmentsPerWindow: 2 })
        .addTokenBucketLimiter('bucket', { tokenLimit: 1, tokensPerPeriod: 1, replenishmentPeriodMs: 1_000 })
        .addConcurrencyLimiter('slots', { permitLimit: 1 })
        .addPolicy('named', {
          algorithm: 'fixedWindow',
          permitLimit: 1,
          windowMs: 1_000,
          key: byHeader('X-Tenant'),
        });
    };
    @Controller()
    class AllController {
      @Get('fixed') @EnableRateLimiting('fixed') fixed(): string {
        return 'ok';
      }
      @Get('sliding') @EnableRateLimiting('sliding') sliding(): string {
        return 'ok';
      }
      @Get('bucket') @EnableRateLimiting('bucket') bucket(): string {
        return 'ok';
      }
      @Get('slots') @EnableRateLimiting('slots') slots(): string {
        return 'ok';
      }
    }
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot(configure)],
      controllers: [AllController, NamedController],
    });
    expect(await app.statuses('/fixed', 2)).toEqual([200, 429]);
    expect(await app.statuses('/sliding', 2)).toEqual([200, 429]);
    expect(await app.statuses('/bucket', 2)).toEqual([200, 429]);
    expect(await app.statuses('/slots', 2)).toEqual([200, 200]);
    expect(await app.statuses('/named', 2, FREE)).toEqual([200, 429]);
    expect(await app.statuses('/named', 2, PAID)).toEqual([200, 429]);
  });

  it('comes from forRootAsync by factory, class and existing provider', async () => {
    @Injectable()
    class Options implements RateLimitingOptionsFactory {
      constructor(@Inject(Plans) private readonly plans: Plans) {}

      createRateLimitingOptions() {
        return {
          policies: {
            named: (context: RateLimitingContext) => byTenant(context, this.plans.limitOf(tenantOf(context))),
          },
        };
      }
    }
    @Module({ imports: [PlansModule], providers: [Options], exports: [Options] })
    class OptionsModule {}
    const byFactory = RateLimitingModule.forRootAsync({
      imports: [PlansModule],
      inject: [Plans],
      useFactory: async (plans: Plans) => new Options(plans).createRateLimitingOptions(),
    });
    const byClass = RateLimitingModule.forRootAsync({ imports: [PlansModule], useClass: Options });
    const byExisting = RateLimitingModule.forRootAsync({ imports: [OptionsModule], useExisting: Options });
    for (const module of [byFactory, byClass, byExisting]) {
      const app = await startApp(platform, { imports: [module], controllers: [NamedController] });
      expect(await app.statuses('/named', 4, PAID)).toEqual([200, 200, 200, 429]);
      await stopApps();
    }
  });

  it.each([undefined, null, Number.NaN])(
    'refuses the key %s as a server error, never as a grant for all',
    async (key) => {
      const policy = () => RateLimitPartition.getFixedWindowLimiter(key, window(1));
      const app = await startApp(platform, {
        imports: [RateLimitingModule.forRoot({ policies: { named: policy } })],
        controllers: [NamedController],
      });
      expect(await app.statuses('/named', 2)).toEqual([500, 500]);
    },
  );

  it.each(['__proto__', 'constructor', 'toString', ''])('counts the key %j like any other', async (key) => {
    const app = await startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          policies: { named: { algorithm: 'fixedWindow', permitLimit: 2, windowMs: 60_000, key: () => key } },
        }),
      ],
      controllers: [NamedController],
    });
    expect(await app.statuses('/named', 3)).toEqual([200, 200, 429]);
  });
});
