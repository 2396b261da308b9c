import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { RateLimitPartition } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import type { IRateLimiterPolicy } from '@ratelease/nestjs';
import { EnableRateLimiting, RateLimitingModule, RateLimitingService } from '@ratelease/nestjs';
import { PLATFORMS, bootError, startApp, stopApps } from '../fixtures/test-app.js';

const minute = { algorithm: 'fixedWindow', windowMs: 60_000 } as const;

/** Lives in the feature module alone, and is exported to nobody. */
@Injectable()
class Tariffs {
  readonly permitLimit = 2;
}

@Injectable()
class TariffPolicy implements IRateLimiterPolicy<string> {
  constructor(private readonly tariffs: Tariffs) {}

  getPartition(): RateLimitPartition<string> {
    const { permitLimit } = this.tariffs;
    return RateLimitPartition.getFixedWindowLimiter('all', () => ({ permitLimit, windowMs: 60_000 }));
  }
}

@Controller('feature')
class FeatureController {
  @Get('tariff')
  @EnableRateLimiting('tariff')
  tariff(): string {
    return 'tariff';
  }

  @Get('unnamed')
  @EnableRateLimiting(TariffPolicy)
  unnamed(): string {
    return 'unnamed';
  }

  @Get('burst')
  @EnableRateLimiting('burst')
  burst(): string {
    return 'burst';
  }
}

const feature = RateLimitingModule.forFeature({
  policies: { tariff: TariffPolicy, burst: { ...minute, permitLimit: 1 } },
});

@Module({ imports: [feature], providers: [Tariffs], controllers: [FeatureController] })
class FeatureModule {}

@Controller('other')
class OtherController {
  @Get()
  @EnableRateLimiting(['burst', 'another'])
  other(): string {
    return 'other';
  }
}

@Module({
  imports: [
    RateLimitingModule.forFeature((options) =>
      options.addFixedWindowLimiter('another', { permitLimit: 5, windowMs: 60_000 }),
    ),
  ],
  controllers: [OtherController],
})
class OtherModule {}

describe.each(PLATFORMS)('policies of feature modules on $name', (platform) => {
  afterEach(stopApps);

  it('are made with the dependencies of the module that names them, and known everywhere', async () => {
    const app = await startApp(platform, {
      imports: [FeatureModule, OtherModule, RateLimitingModule.forRoot({ clock: new FakeClock() })],
    });
    expect(await app.statuses('/feature/tariff', 3)).toEqual([200, 200, 429]);
    expect(await app.statuses('/feature/unnamed', 3)).toEqual([200, 200, 429]);
    expect(await app.statuses('/other', 1)).toEqual([200]);
    expect(await app.statuses('/feature/burst', 1)).toEqual([429]);
    const service = app.app.get(RateLimitingService, { strict: false });
    expect(service.overview().map(({ policy }) => policy)).toEqual([
      'tariff',
      'burst',
      'another',
      'TariffPolicy',
    ]);
  });

  it('are added once where several modules import the same', async () => {
    @Module({ imports: [feature] })
    class AgainModule {}
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot(), FeatureModule, AgainModule],
    });
    expect(await app.statuses('/feature/burst', 2)).toEqual([200, 429]);
  });
});

describe('the boot with feature policies', () => {
  const platform = PLATFORMS[0]!;
  afterEach(stopApps);

  it('stops at a name that is taken', async () => {
    const error = await bootError(platform, {
      imports: [
        RateLimitingModule.forRoot({ policies: { burst: { ...minute, permitLimit: 1 } } }),
        FeatureModule,
      ],
    });
    expect(error.code).toBe('ERR_RL_DUPLICATE_POLICY');
    expect(error.message).toContain('"burst"');
  });

  it('stops without forRoot()', async () => {
    const error = await bootError(platform, { imports: [FeatureModule] });
    expect(error.code).toBe('ERR_RL_MISSING_OPTIONS');
    expect(error.message).toContain('RateLimitingModule.forRoot()');
  });

  it.each([
    [{ polices: {} }, 'ERR_RL_UNKNOWN_OPTION', 'Did you mean "policies"?'],
    [{ rejectionStatusCode: 503 }, 'ERR_RL_UNKNOWN_OPTION', 'rejectionStatusCode'],
    [undefined, 'ERR_RL_MISSING_OPTIONS', 'RateLimitingModule.forFeature()'],
  ])('stops at %j', async (options, code, text) => {
    const error = await bootError(platform, {
      imports: [RateLimitingModule.forRoot(), RateLimitingModule.forFeature(options as never)],
    });
    expect(error.code).toBe(code);
    expect(error.message).toContain(text);
  });
});
