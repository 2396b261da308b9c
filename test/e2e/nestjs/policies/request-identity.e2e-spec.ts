import type {
  CanActivate,
  ExecutionContext,
  MiddlewareConsumer,
  NestMiddleware,
  NestModule,
} from '@nestjs/common';
import { Controller, Get, Module, Next, Post, Req, Res, UseGuards } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { EnableRateLimiting, RateLimitingGuard, RateLimitingModule } from '@ratelease/nestjs';
import { IncomingMessage, ServerResponse } from 'node:http';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import type { Platform } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

type Raw = IncomingMessage & { readonly raw?: IncomingMessage };

/** Puts a list of its own in place of the header fields as they came, as what hides some of them from the log does. */
function replaceRawHeaders(request: Raw): void {
  const raw = request.raw ?? request;
  raw.rawHeaders = raw.rawHeaders.filter((text) => text !== 'secret');
}

/** Has the list made anew at each look, as servers that aren't Node's do. */
function makeRawHeadersAnew(request: Raw): void {
  const raw = request.raw ?? request;
  const { rawHeaders } = raw;
  Object.defineProperty(raw, 'rawHeaders', { get: () => [...rawHeaders] });
}

class ReplacingGuard implements CanActivate {
  canActivate(execution: ExecutionContext): boolean {
    replaceRawHeaders(execution.switchToHttp().getRequest<Raw>());
    return true;
  }
}

@Controller()
@EnableRateLimiting('three')
class CountedController {
  @Get('counted')
  counted(): string {
    return 'counted';
  }

  @Get('guarded')
  @UseGuards(ReplacingGuard)
  @EnableRateLimiting('three', { phase: 'guard' })
  guarded(): string {
    return 'guarded';
  }
}

const three = { algorithm: 'fixedWindow', permitLimit: 3, windowMs: 3_600_000, key: 'shared' } as const;

describe.each(PLATFORMS)('one request on $name is charged once', (platform: Platform) => {
  afterEach(stopApps);

  it.each([replaceRawHeaders, makeRawHeadersAnew])(
    'before routing, and other middleware has %p',
    async (change) => {
      class Changing implements NestMiddleware {
        use(request: Raw, _response: unknown, next: () => void): void {
          change(request);
          next();
        }
      }
      const imports = [
        RateLimitingModule.forRoot({ global: three, globalPhase: 'middleware', policies: { three } }),
      ];
      @Module({ imports, controllers: [CountedController] })
      class Part implements NestModule {
        configure(consumer: MiddlewareConsumer): void {
          consumer.apply(Changing).forRoutes('{*any}');
        }
      }
      const app = await startApp(platform, { imports: [Part] });
      expect(await app.statuses('/counted', 4)).toEqual([200, 200, 200, 429]);
    },
  );

  it('by a guard that is bound twice, and another one between', async () => {
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ policies: { three } })],
      controllers: [CountedController],
      providers: [
        { provide: APP_GUARD, useClass: RateLimitingGuard },
        { provide: APP_GUARD, useClass: ReplacingGuard },
      ],
    });
    expect(await app.statuses('/guarded', 4)).toEqual([200, 200, 200, 429]);
  });
});

const [express] = PLATFORMS as readonly [Platform];

/** Serves a request within another one. */
function serveWithin(
  request: IncomingMessage,
  path: string,
  serve: (...pair: unknown[]) => void,
): Promise<number> {
  const { headers, rawHeaders, socket } = request;
  const within = new IncomingMessage(socket);
  Object.assign(within, { method: 'GET', url: path, headers, rawHeaders });
  within.push(null);
  const response = new ServerResponse(within);
  return new Promise((resolve) => {
    response.end = () => {
      resolve(response.statusCode);
      return response;
    };
    serve(within, response);
  });
}

@Controller()
class BatchController {
  @Post('batch')
  async batch(@Req() request: IncomingMessage & { app: (...pair: unknown[]) => void }): Promise<number[]> {
    const statuses: number[] = [];
    for (let sent = 0; sent < 4; sent++) statuses.push(await serveWithin(request, '/counted', request.app));
    return statuses;
  }
}

describe('requests within a request', () => {
  afterEach(stopApps);

  it('are charged each, though they have its header fields', async () => {
    const app = await startApp(express, {
      imports: [RateLimitingModule.forRoot({ policies: { three } })],
      controllers: [CountedController, BatchController],
    });
    const { body } = await app.send({ method: 'POST', path: '/batch' });
    expect(body).toBe('[200,200,200,429]');
  });
});

const gate = { current: new Gate() };

@Controller()
@EnableRateLimiting('slots')
class ForwardingController {
  @Get('forwarded')
  pass(@Next() next: () => void): void {
    next();
  }

  @Get('forwarded')
  answer(): string {
    return 'here';
  }

  @Get('forwarded-late')
  async passLate(@Next() next: () => void): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    next();
  }

  @Get('forwarded-late')
  answerLate(@Res() response: { send(text: string): void }): void {
    response.send('here');
  }

  @Get('forwarded-to-work')
  passToWork(@Next() next: () => void): void {
    next();
  }

  @Get('forwarded-to-work')
  async work(): Promise<string> {
    await gate.current.pass();
    return 'here';
  }
}

describe('a request that is passed on to the next route', () => {
  afterEach(stopApps);

  it.each(['/forwarded', '/forwarded-late'])('does not wait for what it holds itself: %s', async (path) => {
    const slots = new WatchedLimiter(1, 4);
    const app = await startApp(express, {
      imports: [RateLimitingModule.forRoot({ policies: { slots: slots.policy } })],
      controllers: [ForwardingController],
    });
    const answers = [app.open(path), app.open(path)].map(async ({ answer }) => (await answer).body);
    expect(await Promise.all(answers)).toEqual(['here', 'here']);
    await eventually(() => slots.held === 0 && slots.queued === 0);
  });

  it('keeps what it got before routing', async () => {
    const everywhere = new WatchedLimiter(1);
    const slots = new WatchedLimiter(1, 1);
    gate.current = new Gate();
    const app = await startApp(express, {
      imports: [
        RateLimitingModule.forRoot({
          global: everywhere.policy,
          globalPhase: 'middleware',
          policies: { slots: slots.policy },
        }),
      ],
      controllers: [ForwardingController],
    });
    const first = app.open('/forwarded-to-work');
    await eventually(() => gate.current.waiting === 1);
    expect([everywhere.held, slots.held]).toEqual([1, 1]);
    expect((await app.get('/forwarded-to-work')).status).toBe(429);
    gate.current.open();
    expect((await first.answer).body).toBe('here');
    await eventually(() => everywhere.held === 0 && slots.held === 0);
  });
});
