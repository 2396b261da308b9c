import type { ModuleMetadata } from '@nestjs/common';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { RateLimitPartition } from '@ratelease/limiters';
import type { RateLimiterOptions, RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  DisableRateLimiting,
  EnableRateLimiting,
  RateLimitingModule,
  RateLimitingService,
  byClient,
} from '@ratelease/nestjs';
import { PLATFORMS, bootError, startApp, stopApps } from '../fixtures/test-app.js';

const shared = (permitLimit: number) =>
  ({ algorithm: 'fixedWindow', permitLimit, windowMs: 60_000 }) as const;

@Controller('foreign')
class ForeignController {
  @Get('a')
  a(): string {
    return 'a';
  }
}

@Controller()
class UnmountedController {}

describe('the boot', () => {
  const platform = PLATFORMS[0]!;
  const boot = (options: RateLimitingModuleOptions, controllers = [ForeignController as never]) =>
    bootError(platform, { imports: [RateLimitingModule.forRoot(options)], controllers });
  afterEach(stopApps);

  it('stops at an unknown policy, with the endpoint and the nearest name', async () => {
    @Controller()
    class TypoController {
      @Get() @EnableRateLimiting('brust') get(): string {
        return 'never';
      }
    }
    const error = await boot({ policies: { burst: shared(1), other: shared(1) } }, [TypoController as never]);
    expect(error.code).toBe('ERR_RL_UNKNOWN_POLICY');
    expect(error.message).toBe(
      'TypoController.get uses the policy "brust", which is not registered. Did you mean "burst"? ' +
        'Register it under policies in RateLimitingModule.forRoot().',
    );
  });

  it('stops at an enabled method of a disabled class', async () => {
    @Controller()
    @DisableRateLimiting()
    class ContradictoryController {
      @Get() @EnableRateLimiting('burst') get(): string {
        return 'never';
      }
    }
    const error = await boot({ policies: { burst: shared(1) } }, [ContradictoryController as never]);
    expect(error.code).toBe('ERR_RL_ENABLED_INSIDE_DISABLED');
    expect(error.message).toContain('ContradictoryController.get');
  });

  it.each([
    ['permitLimit', Number.NaN],
    ['permitLimit', Infinity],
    ['permitLimit', 0],
    ['permitLimit', -1],
    ['permitLimit', 0.5],
    ['permitLimit', '10'],
    ['permitLimit', null],
    ['permitLimit', 2 ** 53],
    ['windowMs', 0],
    ['windowMs', 'ten'],
    ['queueLimit', -1],
  ])('stops at %s: %p, naming policy, option and value', async (option, value) => {
    const error = await boot({ policies: { burst: { ...shared(1), [option]: value } as never } });
    expect(error.code).toBe('ERR_RL_INVALID_OPTION');
    expect(error.message).toContain('Policy "burst"');
    expect(error.message).toContain(option);
    expect(error.message).toContain(typeof value === 'string' ? JSON.stringify(value) : String(value));
  });

  it.each([
    [{ polices: {} }, 'ERR_RL_UNKNOWN_OPTION', 'Did you mean "policies"?'],
    [
      { policies: { a: { algorithm: 'fixedwindow', permitLimit: 1, windowMs: 1 } } },
      'ERR_RL_INVALID_OPTION',
      'Did you mean "fixedWindow"?',
    ],
    [{ policies: { a: { ...shared(1), permits: 1 } } }, 'ERR_RL_UNKNOWN_OPTION', '"permits"'],
    [{ policies: { a: { permitLimit: 1 } } }, 'ERR_RL_INVALID_POLICY', 'Policy "a"'],
    [{ policies: { a: null } }, 'ERR_RL_INVALID_POLICY', 'Policy "a"'],
    [{ policies: { a: { ...shared(1), key: 7 } } }, 'ERR_RL_INVALID_OPTION', 'key'],
    [{ policies: { a: { ...shared(1), key: byClient } } }, 'ERR_RL_INVALID_OPTION', 'Call it: byClient().'],
    [{ rejectionStatusCode: '429' }, 'ERR_RL_INVALID_OPTION', 'rejectionStatusCode'],
    [{ globalPhase: 'middle' }, 'ERR_RL_INVALID_OPTION', 'globalPhase'],
    [{ onRejected: 'no' }, 'ERR_RL_INVALID_OPTION', 'onRejected'],
    [
      { endpoints: [{ controller: UnmountedController, disabled: true }] },
      'ERR_RL_INVALID_ENDPOINT',
      'UnmountedController',
    ],
    [
      { endpoints: [{ controller: ForeignController, handler: 'aa', disabled: true }] },
      'ERR_RL_INVALID_ENDPOINT',
      'Did you mean "a"?',
    ],
    [{ endpoints: [{ controller: ForeignController }] }, 'ERR_RL_INVALID_ENDPOINT', 'ForeignController'],
    [
      { endpoints: [{ controller: ForeignController, policies: 'none' }] },
      'ERR_RL_UNKNOWN_POLICY',
      'There are no policies',
    ],
  ])('stops at %j', async (options, code, text) => {
    const error = await boot(options as never);
    expect(error.code).toBe(code);
    expect(error.message).toContain(text);
  });

  it.each([
    ['phase', 'before'],
    ['permitCount', 1.5],
    ['permitCount', -1],
    ['when', true],
    ['maxWaitMs', -1],
    ['maxWaitMs', Number.NaN],
  ])('stops at the option %s: %p of an endpoint, naming it', async (option, value) => {
    @Controller()
    class WrongController {
      @Get() @EnableRateLimiting('burst', { [option]: value }) get(): string {
        return 'never';
      }
    }
    const error = await boot({ policies: { burst: shared(1) } }, [WrongController as never]);
    expect(error.code).toBe('ERR_RL_INVALID_OPTION');
    expect(error.message).toContain(`WrongController.get: ${option}`);
  });

  it('stops without an HTTP server, too', async () => {
    const options = { policies: { burst: { ...shared(1), permitLimit: 0 } } };
    @Module({ imports: [RateLimitingModule.forRoot(options)] })
    class WorkerModule {}
    const boot = NestFactory.createApplicationContext(WorkerModule, { logger: false, abortOnError: false });
    await expect(boot).rejects.toMatchObject({ code: 'ERR_RL_INVALID_OPTION' });
  });

  it('stops at a duplicate name, whatever its form', async () => {
    const error = await bootError(platform, {
      imports: [
        RateLimitingModule.forRoot((options) => {
          options
            .addPolicy('a', () => RateLimitPartition.getNoLimiter('k'))
            .addFixedWindowLimiter('a', { permitLimit: 1, windowMs: 1 });
        }),
      ],
    });
    expect(error).toMatchObject({ code: 'ERR_RL_DUPLICATE_POLICY', message: expect.stringContaining('"a"') });
  });

  it.each([
    [{ endpoints: [null] }, 'entry 0 must be an object with a controller, but got null'],
    [
      {
        endpoints: [
          { controller: ForeignController, handler: 'a', policies: 'burst' },
          { controller: ForeignController, handler: 'a', disabled: true },
        ],
      },
      'two entries for ForeignController.a',
    ],
    [{ policies: new Map() }, 'policies must be an object with a policy for each name'],
    [{ policies: null }, 'policies must be an object with a policy for each name, but got null'],
  ])('stops at %p, saying what is wrong', async (given, message) => {
    const error = await boot({ policies: { burst: shared(1) }, ...given } as never);
    expect(error.message).toContain(message);
  });

  it('stops at a configuration callback that is asynchronous: what it sets later would be lost', async () => {
    const later: unknown = async (options: RateLimiterOptions): Promise<void> => {
      await Promise.resolve();
      options.global = shared(1);
    };
    const error = await bootError(platform, { imports: [RateLimitingModule.forRoot(later as never)] });
    expect(error.code).toBe('ERR_RL_INVALID_OPTION');
    expect(error.message).toContain('returned a promise');
  });

  it('stops at an algorithm that contradicts the method that adds it', async () => {
    const numbers: unknown = { ...shared(1), algorithm: 'tokenBucket' };
    const error = await bootError(platform, {
      imports: [
        RateLimitingModule.forRoot((options) => {
          options.addFixedWindowLimiter('w', numbers as never);
        }),
      ],
    });
    expect(error.code).toBe('ERR_RL_INVALID_OPTION');
    expect(error.message).toContain('"tokenBucket"');
  });

  it.each([
    [{ phaze: 'guard' }, 'Did you mean "phase"?'],
    [{ inherit: 'yes' }, 'inherit must be true or false'],
    [null, 'options object'],
  ])('does not even define an endpoint with the options %p', (given, message) => {
    expect(() => EnableRateLimiting('burst', given as never)).toThrow(message);
  });

  it.each([
    [undefined, 'but got none'],
    [{}, 'but got none'],
    [{ useFactory: 5 }, 'useFactory: 5'],
    [{ useFactory: () => ({}), useClass: UnmountedController }, 'useFactory and useClass'],
    [{ useFactory: () => ({}), injects: [] }, 'Did you mean "inject"?'],
    [{ useFactory: () => ({}), extraProviders: [] }, 'unknown option "extraProviders"'],
  ])('stops at forRootAsync(%p)', (given, message) => {
    expect(() => RateLimitingModule.forRootAsync(given as never)).toThrow(message);
  });

  it.each([
    ['a class without the method', { useClass: UnmountedController }, 'createRateLimitingOptions()'],
    ['a factory that imports', { useFactory: () => ({ imports: [] }) }, '"imports"'],
  ])('stops when forRootAsync has %s', async (_what, given, message) => {
    const error = await bootError(platform, { imports: [RateLimitingModule.forRootAsync(given as never)] });
    expect(error.message).toContain(message);
  });

  it("stops at a policy with the global limiter's name", async () => {
    const error = await boot({ global: shared(9), policies: { global: shared(1) } });
    expect(error).toMatchObject({
      code: 'ERR_RL_DUPLICATE_POLICY',
      message: expect.stringContaining('"global"'),
    });
  });

  it('counts a policy once that an endpoint names twice', async () => {
    @Controller()
    class TwiceController {
      @Get() @EnableRateLimiting(['burst', 'burst']) get(): string {
        return 'ok';
      }
    }
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ policies: { burst: shared(3) } })],
      controllers: [TwiceController],
    });
    expect((await app.get('/')).headers['ratelimit']).toBe('"burst";r=2;t=60');
  });

  it.each([undefined, null, 7, [], class Options {}])('stops when forRootAsync gives %p', async (given) => {
    const error = await bootError(platform, {
      imports: [RateLimitingModule.forRootAsync({ useFactory: () => given as never })],
    });
    expect(error.code).toBe('ERR_RL_MISSING_OPTIONS');
    expect(error.message).toContain('RateLimitingModule.forRootAsync()');
  });

  it('stops when the module is configured twice, and not when it is imported again', async () => {
    const error = await bootError(platform, {
      imports: [
        RateLimitingModule.forRoot({ policies: { burst: shared(1) } }),
        RateLimitingModule.forRoot({ global: shared(1) }),
      ],
    });
    expect(error.code).toBe('ERR_RL_MODULE_TWICE');
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ global: shared(1) }), RateLimitingModule],
      controllers: [ForeignController],
    });
    expect(await app.statuses('/foreign/a', 2)).toEqual([200, 429]);
  });

  it('tells modules of two calls apart where Nest compares them by their text', async () => {
    const boot = async (imports: NonNullable<ModuleMetadata['imports']>): Promise<void> => {
      @Module({ imports })
      class RootModule {}
      const app = await NestFactory.create(RootModule, platform.adapter(), {
        logger: false,
        abortOnError: false,
        moduleIdGeneratorAlgorithm: 'deep-hash',
      });
      try {
        await app.init();
        expect(app.get(RateLimitingService).overview()).toHaveLength(2);
      } finally {
        await app.close();
      }
    };
    const [first, second] = ['first', 'second'].map((name) => ({ policies: { [name]: shared(1) } }));
    await expect(
      boot([RateLimitingModule.forRoot(first), RateLimitingModule.forRoot(second)]),
    ).rejects.toMatchObject({ code: 'ERR_RL_MODULE_TWICE' });
    await boot([RateLimitingModule.forRoot(first), RateLimitingModule.forFeature(second!)]);
    const features = [first, second].map((options) => RateLimitingModule.forFeature(options!));
    await boot([RateLimitingModule.forRoot(), ...features, features[0]!]);
  });
});
