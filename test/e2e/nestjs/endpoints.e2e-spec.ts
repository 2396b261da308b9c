import { Controller, Get } from '@nestjs/common';
import { RateLimitPartition } from '@ratelease/limiters';
import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import { DisableRateLimiting, EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import type { Platform, TestApp } from './test-app.js';
import { PLATFORMS, bootError, startApp, stopApps } from './test-app.js';

const shared = (permitLimit: number) =>
  ({ algorithm: 'fixedWindow', permitLimit, windowMs: 60_000 }) as const;

@EnableRateLimiting('classwide')
abstract class BaseController {
  @Get('m')
  @EnableRateLimiting('method')
  m(): string {
    return 'm';
  }

  @Get('plain')
  plain(): string {
    return 'plain';
  }

  @Get('both')
  @EnableRateLimiting(['method', 'classwide', 'extra'], { inherit: true })
  both(): string {
    return 'both';
  }

  @Get('off')
  @DisableRateLimiting()
  off(): string {
    return 'off';
  }
}

@Controller('c1')
class C1 extends BaseController {}

@Controller('c2')
class C2 extends BaseController {
  @Get('m')
  override m(): string {
    return 'm2';
  }
}

@Controller('c3')
class C3 extends BaseController {
  @Get('m')
  @EnableRateLimiting('extra')
  override m(): string {
    return 'm3';
  }
}

@Controller('disabled')
@DisableRateLimiting()
class DisabledController {
  @Get()
  get(): string {
    return 'ok';
  }
}

@Controller('foreign')
class ForeignController {
  @Get('a')
  a(): string {
    return 'a';
  }

  @Get('b')
  b(): string {
    return 'b';
  }
}

const policies = { classwide: shared(100), method: shared(100), extra: shared(100) };

function start(platform: Platform, options: Partial<RateLimitingModuleOptions> = {}): Promise<TestApp> {
  return startApp(platform, {
    imports: [RateLimitingModule.forRoot({ policies, ...options })],
    controllers: [C1, C2, C3, DisabledController, ForeignController],
  });
}

const names = (header: string | string[] | undefined): string[] =>
  String(header ?? '')
    .split(', ')
    .filter(Boolean)
    .map((item) => item.split(';')[0]!.replaceAll('"', ''));

describe.each(PLATFORMS)('which policies apply on $name', (platform) => {
  afterEach(stopApps);

  it.each([
    ['/c1/m', ['method']],
    ['/c1/plain', ['classwide']],
    ['/c1/both', ['classwide', 'method', 'extra']],
    ['/c2/m', ['classwide']],
    ['/c3/m', ['extra']],
    ['/c1/off', []],
    ['/disabled', []],
    ['/foreign/a', []],
  ])('%s: %j', async (path, expected) => {
    const app = await start(platform);
    expect(names((await app.get(path)).headers.ratelimit)).toEqual(expected);
  });

  it('adds the global limiter everywhere but where limits are disabled', async () => {
    const app = await start(platform, { global: shared(100) });
    expect(names((await app.get('/c1/m')).headers.ratelimit)).toEqual(['global', 'method']);
    expect(names((await app.get('/foreign/a')).headers.ratelimit)).toEqual(['global']);
    expect((await app.get('/c1/off')).headers).not.toHaveProperty('ratelimit');
    expect((await app.get('/disabled')).headers).not.toHaveProperty('ratelimit');
  });

  it('serves disabled endpoints while the global limiter refuses all others', async () => {
    const app = await start(platform, { global: shared(1) });
    expect(await app.statuses('/foreign/a', 2)).toEqual([200, 429]);
    expect(await app.statuses('/disabled', 3)).toEqual([200, 200, 200]);
    expect(await app.statuses('/c1/off', 3)).toEqual([200, 200, 200]);
  });

  it('binds policies to code that is not decorated', async () => {
    const app = await start(platform, {
      global: shared(100),
      endpoints: [
        { controller: ForeignController, policies: 'method' },
        { controller: ForeignController, handler: 'b', policies: ['extra', 'classwide'] },
        { controller: C1, handler: 'plain', disabled: true },
      ],
    });
    expect(names((await app.get('/foreign/a')).headers.ratelimit)).toEqual(['global', 'method']);
    expect(names((await app.get('/foreign/b')).headers.ratelimit)).toEqual(['global', 'extra', 'classwide']);
    expect((await app.get('/c1/plain')).headers).not.toHaveProperty('ratelimit');
    expect(names((await app.get('/c2/plain')).headers.ratelimit)).toEqual(['global', 'classwide']);
  });

  it('takes several policies all-or-nothing: what one refuses costs the other nothing', async () => {
    const app = await start(platform, {
      global: shared(50),
      policies: { ...policies, classwide: shared(100), method: shared(2), extra: shared(100) },
    });
    expect(await app.statuses('/c1/both', 6)).toEqual([200, 200, 429, 429, 429, 429]);
    const refused = await app.get('/c1/both');
    expect(refused.headers.ratelimit).toBe(
      '"global";r=48;t=60, "classwide";r=98;t=60, "method";r=0;t=60, "extra";r=98;t=60',
    );
    expect((await app.get('/c3/m')).headers.ratelimit).toMatch(/^"global";r=47;t=\d+, "extra";r=97/);
  });
});

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
    [{ rejectionStatusCode: '429' }, 'ERR_RL_INVALID_OPTION', 'rejectionStatusCode'],
    [{ globalPhase: 'middle' }, 'ERR_RL_INVALID_OPTION', 'globalPhase'],
    [{ onRejected: 'no' }, 'ERR_RL_INVALID_OPTION', 'onRejected'],
    [{ endpoints: [{ controller: C1, disabled: true }] }, 'ERR_RL_INVALID_ENDPOINT', 'C1'],
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

  it.each([undefined, null, 7, []])('stops when forRootAsync gives %p', async (given) => {
    const error = await bootError(platform, {
      imports: [RateLimitingModule.forRootAsync({ useFactory: () => given as never })],
    });
    expect(error.code).toBe('ERR_RL_MISSING_OPTIONS');
    expect(error.message).toContain('RateLimitingModule.forRootAsync()');
  });

  it('stops when the module is configured twice, and not when it is imported again', async () => {
    const error = await bootError(platform, {
      imports: [RateLimitingModule.forRoot({ policies }), RateLimitingModule.forRoot({ global: shared(1) })],
    });
    expect(error.code).toBe('ERR_RL_MODULE_TWICE');
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ global: shared(1) }), RateLimitingModule],
      controllers: [ForeignController],
    });
    expect(await app.statuses('/foreign/a', 2)).toEqual([200, 429]);
  });
});
