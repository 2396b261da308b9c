import type { Type } from '@nestjs/common';
import { Inject, Injectable, Module } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { RateLimitPartition } from '@ratelease/limiters';
import type { IRateLimiterPolicy, RateLimitingModuleOptions } from '@ratelease/nestjs';
import { RateLimitingModule, RateLimitingService } from '@ratelease/nestjs';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const minute = { algorithm: 'fixedWindow', windowMs: 60_000 } as const;

/** Takes its time to be made, and is exported to nobody. */
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

class OwnPolicy extends TariffPolicy {}

const makeTariffs = async (): Promise<Tariffs> => {
  await new Promise(setImmediate);
  return new Tariffs();
};

@Module({
  imports: [
    RateLimitingModule.forFeature({
      policies: { tariff: TariffPolicy, own: OwnPolicy, burst: { ...minute, permitLimit: 1 } },
    }),
  ],
  providers: [
    { provide: Tariffs, useFactory: makeTariffs },
    { provide: OwnPolicy, inject: [Tariffs], useFactory: (tariffs: Tariffs) => new OwnPolicy(tariffs) },
  ],
})
class LazyModule {}

class MisplacedPolicy extends TariffPolicy {}
Inject('no such provider')(MisplacedPolicy, undefined, 0);

@Module({
  imports: [
    RateLimitingModule.forFeature({
      policies: { sound: { ...minute, permitLimit: 1 }, misplaced: MisplacedPolicy },
    }),
  ],
})
class BrokenModule {}

// Nest routes no requests to what is loaded late, and so the platform doesn't matter.
describe('policies of modules that are loaded late', () => {
  afterEach(stopApps);

  async function start(options: RateLimitingModuleOptions = {}) {
    const { app } = await startApp(PLATFORMS[0]!, { imports: [RateLimitingModule.forRoot(options)] });
    const loader = app.get(LazyModuleLoader);
    const service = app.get(RateLimitingService, { strict: false });
    const names = (): string[] => service.overview().map(({ policy }) => policy);
    const load = (module: Type = LazyModule) => loader.load(() => module, { logger: false });
    return { service, names, load };
  }

  it('are there when their module is, with what they depend on in it', async () => {
    const { service, names, load } = await start();
    expect(names()).toEqual([]);
    await load();
    expect(names()).toEqual(['tariff', 'own', 'burst']);
    const context = service.createContext();
    for (const [policy, limit] of [
      ['tariff', 2],
      ['own', 2],
      ['burst', 1],
    ] as const) {
      expect((await service.acquire(policy, context, { permitCount: limit })).isAcquired).toBe(true);
      expect((await service.acquire(policy, context)).isAcquired).toBe(false);
    }
  });

  it('are added once, however often and by how many the module is loaded', async () => {
    const { names, load } = await start();
    await Promise.all([load(), load()]);
    await load();
    expect(names()).toEqual(['tariff', 'own', 'burst']);
  });

  it('fail to load where a name is taken, each time, and leave nothing behind', async () => {
    const { names, load } = await start({ policies: { burst: { ...minute, permitLimit: 1 } } });
    for (let time = 0; time < 2; time++)
      await expect(load()).rejects.toMatchObject({ code: 'ERR_RL_DUPLICATE_POLICY' });
    expect(names()).toEqual(['burst']);
  });

  it('fail to load where one of them can’t be made, for the same reason each time, and leave nothing behind', async () => {
    const { names, load } = await start();
    for (let time = 0; time < 2; time++) {
      await expect(load(BrokenModule)).rejects.toMatchObject({ code: 'ERR_RL_INVALID_POLICY' });
      expect(names()).toEqual([]);
    }
    await load();
    expect(names()).toEqual(['tariff', 'own', 'burst']);
  });
});
