import type { CanActivate, INestApplication, ModuleMetadata } from '@nestjs/common';
import { Controller, Get, HttpCode, Logger, SetMetadata, UseGuards, UseInterceptors } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  ConcurrencyLimit,
  DisableRateLimiting,
  EnableRateLimiting,
  RateLimitingGuard,
  RateLimitingInterceptor,
  RateLimitingModule,
  byClient,
} from '@ratelease/nestjs';
import type { Platform } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const OPTIONS: RateLimitingModuleOptions = {
  policies: { burst: { algorithm: 'fixedWindow', permitLimit: 99, windowMs: 60_000, key: byClient() } },
};

@Controller()
class BurstController {
  @Get('burst')
  @EnableRateLimiting('burst')
  burst(): string {
    return 'burst';
  }
}

@Controller('bound')
@UseInterceptors(RateLimitingInterceptor)
class BoundController {
  @Get()
  @EnableRateLimiting('burst')
  bound(): string {
    return 'bound';
  }

  @Get('guarded')
  @EnableRateLimiting('burst', { phase: 'guard' })
  guarded(): string {
    return 'guarded';
  }

  @Get('guarded-well')
  @EnableRateLimiting('burst', { phase: 'guard' })
  @UseGuards(RateLimitingGuard)
  guardedWell(): string {
    return 'guarded';
  }
}

class AuthGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

let warn: jest.SpyInstance<void, [message: unknown]>;

const warnings = (text: string): string[] =>
  warn.mock.calls.map(([message]) => String(message)).filter((message) => message.includes(text));

async function start(
  platform: Platform,
  options: RateLimitingModuleOptions,
  rest: ModuleMetadata = {},
  prepare?: (app: INestApplication) => unknown,
) {
  const { imports = [], ...others } = rest;
  const metadata = { controllers: [BurstController], ...others };
  return startApp(
    platform,
    { ...metadata, imports: [RateLimitingModule.forRoot(options), ...imports] },
    prepare,
  );
}

describe('the boot warns', () => {
  const express = PLATFORMS[0]!;
  const environment = { ...process.env };
  beforeEach(() => {
    warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation() as never;
  });
  afterEach(async () => {
    process.env = { ...environment };
    await stopApps();
    jest.restoreAllMocks();
  });

  it('of nothing by default', async () => {
    await start(express, OPTIONS);
    expect(warn).not.toHaveBeenCalled();
  });

  it.each([true, '10.0.0.0/8', 1])('of trust in every proxy, on Express: %p', async (trust) => {
    const adapter = new ExpressAdapter();
    adapter.set('trust proxy', trust);
    await start({ name: 'Express', adapter: () => adapter }, OPTIONS);
    expect(warnings("app.set('trust proxy'")).toHaveLength(trust === true ? 1 : 0);
  });

  it.each([true, '10.0.0.0/8'])('of trust in every proxy, on Fastify: %p', async (trustProxy) => {
    await start({ name: 'Fastify', adapter: () => new FastifyAdapter({ trustProxy }) }, OPTIONS);
    expect(warnings('trustProxy:')).toHaveLength(trustProxy === true ? 1 : 0);
  });

  it.each([1, 0])('of a number of proxies, by which Fastify trusts none of them: %p', async (trustProxy) => {
    // The types of such a version allow none; of settings that come from elsewhere they know nothing.
    const options = { trustProxy: trustProxy as never };
    await start({ name: 'Fastify', adapter: () => new FastifyAdapter(options) }, OPTIONS);
    expect(warnings('trustProxy is a number')).toHaveLength(trustProxy);
  });

  it('of a prefix longer than the network of a customer', async () => {
    await start(express, { ...OPTIONS, ipv6SubnetPrefix: 128 });
    expect(warnings('ipv6SubnetPrefix is 128')).toHaveLength(1);
  });

  it('of decorated handlers that nobody binds anything to', async () => {
    const controllers = [BurstController, BoundController];
    await start(express, { ...OPTIONS, bind: false }, { controllers });
    const [warning] = warnings('Nobody enforces');
    expect(warning).toContain('BurstController.burst, BoundController.guarded:');
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('of limits on methods that no request and no message calls', async () => {
    @Controller('partly')
    class PartlyController {
      @Get() @EnableRateLimiting('burst') called(): void {}
      @EnableRateLimiting('burst') @HttpCode(201) helper(): void {}
    }
    class Jobs {
      @EnableRateLimiting('burst') @SetMetadata('SCHEDULE_CRON_OPTIONS', {}) nightly(): void {}
      @ConcurrencyLimit(1, { when: () => true }) @SetMetadata('EVENT_LISTENER_METADATA', []) on(): void {}
      @EnableRateLimiting('burst') @SetMetadata('queue of another library', 'mails') consume(): void {}
      @DisableRateLimiting() plain(): void {}
    }
    class Queues {
      @EnableRateLimiting('burst') @SetMetadata('bull:module_queue_process', {}) mail(): void {}
      @EnableRateLimiting('burst') @SetMetadata('bullmq:worker_events_metadata', {}) done(): void {}
    }
    await start(express, OPTIONS, {
      controllers: [BurstController, PartlyController],
      providers: [Jobs, Queues],
    });
    const [warning] = warnings('Nothing limits');
    expect(warning).toContain(
      'Nothing limits PartlyController.helper, Jobs.nightly, Jobs.on, Queues.mail, Queues.done: ',
    );
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('of limits of an application that imports the module and configures it nowhere', async () => {
    const parts = { imports: [RateLimitingModule] };
    await startApp(express, parts);
    expect(warn).not.toHaveBeenCalled();
    const app = await startApp(express, { ...parts, controllers: [BurstController] });
    const [warning] = warnings('nowhere configured');
    expect(warning).toMatch(
      /^Nobody enforces the limits of BurstController\.burst: .* RateLimitingModule\.forRoot\(\)/,
    );
    expect(warn).toHaveBeenCalledTimes(1);
    expect((await app.get('/burst')).status).toBe(200);
  });

  it('of nothing where the application binds everything', async () => {
    const controllers = [BurstController, BoundController];
    await start(express, { ...OPTIONS, bind: false }, { controllers }, (app) => {
      app.useGlobalGuards(app.get(RateLimitingGuard, { strict: false }));
      app.useGlobalInterceptors(app.get(RateLimitingInterceptor, { strict: false }));
    });
    expect(warn).not.toHaveBeenCalled();
  });

  it('of guards that come before limits in the phase of guards', async () => {
    const controllers = [BoundController];
    const auth = { provide: APP_GUARD, useClass: AuthGuard };
    await start(express, OPTIONS, { controllers, providers: [auth] });
    expect(warnings("the phase 'guard' are asked after AuthGuard")).toHaveLength(1);
    warn.mockClear();
    const first = { provide: APP_GUARD, useClass: RateLimitingGuard };
    await start(express, OPTIONS, { controllers, providers: [first, auth] });
    await start(express, OPTIONS, { providers: [auth] });
    expect(warn).not.toHaveBeenCalled();
  });

  it('of limits in the process where PM2 runs several', async () => {
    Object.assign(process.env, { pm_id: '3', instances: '4' });
    await start(express, OPTIONS);
    expect(warnings('one of several workers')).toHaveLength(1);
  });
});

describe('a request with a forwarded address', () => {
  afterEach(stopApps);
  afterEach(() => jest.restoreAllMocks());

  it('makes one warning per process where its proxy is not trusted', async () => {
    warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation() as never;
    const headers = { 'x-forwarded-for': '198.51.100.7' };
    const trusting = new ExpressAdapter();
    trusting.set('trust proxy', 'loopback');
    const good = await start({ name: 'Express', adapter: () => trusting }, OPTIONS);
    expect(await good.statuses('/burst', 1, headers)).toEqual([200]);
    expect(warn).not.toHaveBeenCalled();
    for (const platform of PLATFORMS) {
      const app = await start(platform, OPTIONS);
      expect(await app.statuses('/burst', 3)).toEqual([200, 200, 200]);
      expect(await app.statuses('/burst', 3, headers)).toEqual([200, 200, 200]);
    }
    expect(warnings('the proxy is not trusted')).toHaveLength(1);
    expect(warn).toHaveBeenCalledTimes(1);
  });
});
