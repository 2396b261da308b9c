import type { CanActivate, INestApplication } from '@nestjs/common';
import {
  Controller,
  Get,
  Header,
  Param,
  Post,
  UnauthorizedException,
  UseGuards,
  Version,
  VersioningType,
} from '@nestjs/common';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimitingContext, RateLimitingModuleOptions } from '@ratelease/nestjs';
import { DisableRateLimiting, EnableRateLimiting, RateLimitingModule, byRoute } from '@ratelease/nestjs';
import { RateLimitPartition } from '@ratelease/limiters';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import type { Platform, TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };
const contexts: RateLimitingContext[] = [];

class RefusingGuard implements CanActivate {
  canActivate(): boolean {
    throw new UnauthorizedException();
  }
}

@Controller()
class MixedController {
  @Get('open')
  open(): string {
    return 'open';
  }

  @Post('login')
  @UseGuards(RefusingGuard)
  login(): string {
    return 'never';
  }

  @Get('both')
  @EnableRateLimiting('other')
  both(): string {
    return 'both';
  }

  @Get('slow')
  async slow(): Promise<string> {
    await gate.current.pass();
    return 'done';
  }

  @Get('health/:part')
  @DisableRateLimiting()
  @Header('Cache-Control', 'no-cache')
  health(@Param('part') part: string): string {
    return part;
  }

  @Get('versions')
  @Version('1')
  @DisableRateLimiting()
  unlimited(): string {
    return 'one';
  }

  @Get('versions')
  @Version('2')
  limited(): string {
    return 'two';
  }
}

@Controller('metrics')
@DisableRateLimiting()
class MetricsController {
  @Get()
  metrics(): string {
    return 'metrics';
  }
}

@Controller('foreign')
class ForeignController {
  @Get('probe')
  probe(): string {
    return 'alive';
  }

  @Get('page')
  page(): string {
    return 'page';
  }
}

function start(platform: Platform, options: RateLimitingModuleOptions): Promise<TestApp> {
  const prepare = (app: INestApplication): unknown =>
    app.enableVersioning({ type: VersioningType.HEADER, header: 'X-Version' });
  return startApp(
    platform,
    {
      imports: [
        RateLimitingModule.forRoot({
          globalPhase: 'middleware',
          clock: new FakeClock(),
          policies: { other: { algorithm: 'fixedWindow', permitLimit: 9, windowMs: 1_000 } },
          endpoints: [{ controller: ForeignController, handler: 'probe', disabled: true }],
          ...options,
        }),
      ],
      controllers: [MixedController, MetricsController, ForeignController],
    },
    prepare,
  );
}

const limit = (permitLimit: number) => ({ algorithm: 'fixedWindow', permitLimit, windowMs: 60_000 }) as const;

describe.each(PLATFORMS)('the global limiter before routing on $name', (platform) => {
  beforeEach(() => {
    gate.current = new Gate();
    contexts.length = 0;
  });
  afterEach(stopApps);

  it('counts addresses that do not exist, refused logins and everything else', async () => {
    const app = await start(platform, { global: limit(3) });
    expect((await app.get('/nowhere')).status).toBe(404);
    expect((await app.send({ method: 'POST', path: '/login', body: {} })).status).toBe(401);
    const granted = await app.get('/open');
    expect(granted.status).toBe(200);
    expect(granted.headers.ratelimit).toBe('"global";r=0;t=60');
    for (const path of ['/nowhere', '/open', '/login']) {
      const refused = await app.get(path);
      expect(refused.status).toBe(429);
      expect(JSON.parse(refused.body)).toEqual({ statusCode: 429, message: 'Too many requests.' });
      expect(refused.headers).toMatchObject({
        'retry-after': '60',
        'cache-control': 'no-store',
        ratelimit: '"global";r=0;t=60',
        'ratelimit-policy': '"global";q=3;w=60',
      });
    }
  });

  it('counts once, and leaves the policies of the endpoint to their phase', async () => {
    const app = await start(platform, { global: limit(3) });
    const granted = await app.get('/both');
    expect(granted.headers.ratelimit).toBe('"global";r=2;t=60, "other";r=8;t=1');
    expect(await app.statuses('/both', 3)).toEqual([200, 200, 429]);
  });

  it.each(['/health/live', '/metrics', '/foreign/probe'])(
    'never counts and never refuses a disabled endpoint: %s',
    async (path) => {
      const app = await start(platform, { global: limit(1) });
      expect(await app.statuses(`${path}?x=1`, 3)).toEqual([200, 200, 200]);
      expect((await app.send({ method: 'HEAD', path })).status).toBe(200);
      const head = await app.get(path);
      expect(head.headers).not.toHaveProperty('ratelimit');
      expect(await app.statuses('/foreign/page', 2)).toEqual([200, 429]);
      expect(await app.statuses(path, 2)).toEqual([200, 200]);
    },
  );

  it('makes up in the guard for what it took for a disabled route', async () => {
    const app = await start(platform, { global: limit(2) });
    const asked = (version: string) => app.statuses('/versions', 3, { 'x-version': version });
    expect(await asked('1')).toEqual([200, 200, 200]);
    expect(await asked('2')).toEqual([200, 200, 429]);
    expect(await asked('1')).toEqual([200, 200, 200]);
  });

  it('answers with 400 to an address that can not be decoded', async () => {
    const app = await start(platform, { global: limit(2) });
    expect((await app.get('/health/%E0%A4%A')).status).toBe(400);
  });

  it('knows the client, but neither handler nor class', async () => {
    const app = await start(platform, {
      global: (context) => {
        contexts.push(context);
        expect([context.handler, context.controller]).toEqual([undefined, undefined]);
        expect(context.execution.switchToHttp().getRequest()).toBe(context.request);
        return RateLimitPartition.getNoLimiter(`${byRoute()(context) as string} ${context.clientIp}`);
      },
    });
    expect((await app.get('/both')).status).toBe(200);
    const [context] = contexts;
    expect(context).toMatchObject({ type: 'http', clientIp: '127.0.0.1' });
    expect(context?.handler?.name).toBe('both');
    expect(context?.controller).toBe(MixedController);
  });

  it('holds its permit until the response is sent, and a handler that outlives its client', async () => {
    const slots = new WatchedLimiter(1);
    const app = await start(platform, { global: slots.policy });
    const first = app.open('/slow');
    await eventually(() => gate.current.waiting === 1);
    expect((await app.get('/nowhere')).status).toBe(429);
    first.abort();
    expect((await app.get('/nowhere')).status).toBe(429);
    expect(slots.held).toBe(1);
    gate.current.open();
    await eventually(() => slots.held === 0);
    expect((await app.get('/nowhere')).status).toBe(404);
    await eventually(() => slots.held === 0);
  });

  it('ends the wait of a client that left, and of those that an ending application leaves', async () => {
    const slots = new WatchedLimiter(1, 5);
    const app = await start(platform, { global: slots.policy });
    const first = app.open('/slow');
    await eventually(() => gate.current.waiting === 1);
    const leaving = app.open('/slow');
    await eventually(() => slots.queued === 1);
    leaving.abort();
    await eventually(() => slots.queued === 0);
    const waiting = app.open('/slow');
    await eventually(() => slots.queued === 1);
    const closed = app.app.close();
    expect((await waiting.answer).status).toBe(503);
    gate.current.open();
    expect((await first.answer).status).toBe(200);
    await closed;
    expect(gate.current.arrivals).toBe(1);
  });

  it('lets onRejected answer by itself', async () => {
    const app = await start(platform, {
      global: limit(1),
      onRejected: (_rejection, { response }) => {
        const target = response as { status(code: number): { send(body: string): void } };
        target.status(420).send('calm');
      },
    });
    expect((await app.get('/open')).status).toBe(200);
    expect(await app.get('/nowhere')).toMatchObject({ status: 420, body: 'calm' });
  });
});
