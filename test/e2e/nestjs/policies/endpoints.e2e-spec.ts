import { Controller, Get } from '@nestjs/common';
import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import { DisableRateLimiting, EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import { Replacing } from '../fixtures/replacing.js';
import type { Platform, TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

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

@Controller('c4')
@DisableRateLimiting()
class C4 extends BaseController {}

@Controller('c5')
@DisableRateLimiting('method')
class C5 extends BaseController {}

@Controller('disabled')
@DisableRateLimiting()
class DisabledController {
  @Get()
  get(): string {
    return 'ok';
  }
}

@Controller('partly')
@EnableRateLimiting(['classwide', 'method', 'extra'])
@DisableRateLimiting('extra')
class PartlyController {
  @Get('some')
  @DisableRateLimiting('method')
  some(): string {
    return 'some';
  }

  @Get('without-global')
  @DisableRateLimiting('global')
  @DisableRateLimiting('method', 'classwide')
  withoutGlobal(): string {
    return 'without global';
  }

  @Get('rest')
  rest(): string {
    return 'rest';
  }
}

@EnableRateLimiting(['classwide', 'extra'])
abstract class PlainController {
  @Get('plain')
  plain(): string {
    return 'plain';
  }
}

@Controller('derived')
@DisableRateLimiting('classwide')
class DerivedController extends PlainController {}

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

@Controller('replaced')
@EnableRateLimiting('classwide')
class ReplacedController {
  @Get('enabled')
  @Replacing()
  @EnableRateLimiting('method')
  enabled(): string {
    return 'enabled';
  }

  @Get('disabled')
  @Replacing()
  @DisableRateLimiting()
  disabled(): string {
    return 'disabled';
  }

  @Get('partly')
  @DisableRateLimiting('method')
  @Replacing()
  @DisableRateLimiting('classwide')
  @EnableRateLimiting(['method', 'extra'], { inherit: true })
  partly(): string {
    return 'partly';
  }
}

/** What stands on a method of the base class stays there. */
@Controller('overriding')
class OverridingController extends ReplacedController {
  @Get('enabled')
  override enabled(): string {
    return 'overridden';
  }
}

const policies = { classwide: shared(100), method: shared(100), extra: shared(100) };

function start(platform: Platform, options: Partial<RateLimitingModuleOptions> = {}): Promise<TestApp> {
  return startApp(platform, {
    imports: [RateLimitingModule.forRoot({ policies, ...options })],
    controllers: [
      ...[C1, C2, C3, C4, C5, DisabledController, ForeignController, DerivedController],
      ...[ReplacedController, OverridingController],
    ],
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
    ['/c4/m', []],
    ['/c4/both', []],
    ['/c5/m', []],
    ['/c5/both', ['classwide', 'extra']],
    ['/c1/off', []],
    ['/disabled', []],
    ['/foreign/a', []],
  ])('%s: %j', async (path, expected) => {
    const app = await start(platform);
    expect(names((await app.get(path)).headers.ratelimit)).toEqual(expected);
  });

  it.each([
    ['/replaced/enabled', ['global', 'method']],
    ['/replaced/disabled', []],
    ['/replaced/partly', ['global', 'extra']],
    ['/overriding/enabled', ['global', 'classwide']],
    ['/overriding/partly', ['global', 'extra']],
  ])('where a decorator further up puts another function in the place of %s: %j', async (path, expected) => {
    const app = await start(platform, { global: shared(100) });
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

  it('leaves out the policies that are disabled by name, and nothing else', async () => {
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ policies, global: shared(1) })],
      controllers: [PartlyController],
    });
    expect((await app.get('/partly/without-global')).headers).not.toHaveProperty('ratelimit');
    expect(names((await app.get('/partly/some')).headers.ratelimit)).toEqual(['global', 'classwide']);
    const refused = await app.get('/partly/rest');
    expect(names(refused.headers.ratelimit)).toEqual(['global', 'classwide', 'method']);
    expect(refused.headers.ratelimit).toContain('"classwide";r=99;');
    expect(refused.headers.ratelimit).toContain('"method";r=100;');
    expect(await app.statuses('/partly/without-global', 3)).toEqual([200, 200, 200]);
  });

  it('leaves them out in classes that inherit them, in options, and before routing', async () => {
    const app = await start(platform, {
      global: shared(1),
      globalPhase: 'middleware',
      endpoints: [
        { controller: ForeignController, handler: 'a', disabled: 'global' },
        { controller: C1, handler: 'both', disabled: ['extra', 'global'] },
      ],
    });
    expect((await app.get('/foreign/a')).headers).not.toHaveProperty('ratelimit');
    expect(names((await app.get('/c1/both')).headers.ratelimit)).toEqual(['classwide', 'method']);
    expect(names((await app.get('/derived/plain')).headers.ratelimit)).toEqual(['global', 'extra']);
    expect((await app.get('/foreign/b')).status).toBe(429);
    expect(await app.statuses('/foreign/a', 3)).toEqual([200, 200, 200]);
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
