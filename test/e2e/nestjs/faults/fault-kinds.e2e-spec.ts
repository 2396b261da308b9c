import type { ArgumentsHost, CallHandler, ExceptionFilter, NestInterceptor } from '@nestjs/common';
import {
  Catch,
  Controller,
  Get,
  Module,
  Param,
  Post,
  Req,
  UseFilters,
  UseInterceptors,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  ConcurrencyLimit,
  DisableRateLimiting,
  EnableRateLimiting,
  RateLimitingModule,
  RateLimitingService,
  byClient,
  byHeader,
  byRoute,
} from '@ratelease/nestjs';
import { map } from 'rxjs';
import type { Readable } from 'node:stream';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { send } from '../fixtures/http-client.js';
import { PLATFORMS, startApp, stopApps, TestApp } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };
const minute = { algorithm: 'fixedWindow', windowMs: 60_000 } as const;
const all = (status: number, count: number) => Array<number>(count).fill(status);

@Catch()
class ThrowingFilter implements ExceptionFilter {
  catch(_exception: unknown, _host: ArgumentsHost): never {
    throw new Error('the filter is broken');
  }
}

class ThrowingInterceptor implements NestInterceptor {
  intercept(_context: unknown, next: CallHandler) {
    return next.handle().pipe(
      map(() => {
        throw new Error('can not be serialized');
      }),
    );
  }
}

@Controller('failing')
@EnableRateLimiting('slots')
class FailingController {
  @Get('interceptor')
  @UseInterceptors(ThrowingInterceptor)
  interceptor(): string {
    return 'never';
  }

  @Get('filter')
  @UseFilters(ThrowingFilter)
  filter(): string {
    throw new Error('broken');
  }
}

/** Two classes of the same name, as a minifier makes them. */
function namesake(path: string): new () => object {
  @Controller(path)
  class r {
    @Get()
    @EnableRateLimiting('perRoute')
    list(): string {
      return path;
    }

    @Get('slow')
    @ConcurrencyLimit(1, { when: () => true })
    async slow(): Promise<string> {
      await gate.current.pass();
      return path;
    }
  }
  return r;
}

@Controller()
class KeyController {
  @Get('client')
  @EnableRateLimiting('perClient')
  client(): string {
    return 'ok';
  }

  @Get('verify/:code')
  @EnableRateLimiting('perRoute')
  verify(@Param('code') code: string): string {
    return code;
  }

  @Get('keyed')
  @EnableRateLimiting(['perKey', 'behind'])
  keyed(): string {
    return 'ok';
  }

  @Post('webhook')
  @EnableRateLimiting('perClient', { when: ({ request }) => request.headers['x-hook'] === 'yes' })
  async webhook(@Req() request: Readable): Promise<number> {
    let length = 0;
    for await (const chunk of request) length += (chunk as Buffer).length;
    return length;
  }

  @Get('health')
  @DisableRateLimiting()
  health(): string {
    return 'alive';
  }
}

const OPTIONS: RateLimitingModuleOptions = {
  clock: new FakeClock(),
  policies: {
    perRoute: { ...minute, permitLimit: 5, key: byRoute() },
    perClient: { ...minute, permitLimit: 10, key: byClient() },
    perKey: { ...minute, permitLimit: 2, key: byHeader('X-Api-Key') },
    behind: { ...minute, permitLimit: 20, key: byClient() },
  },
};

describe.each(PLATFORMS)('on $name', (platform) => {
  beforeEach(() => {
    gate.current = new Gate();
  });
  afterEach(stopApps);

  const start = (controllers: (new () => object)[], options: RateLimitingModuleOptions = OPTIONS) =>
    startApp(platform, {
      imports: [RateLimitingModule.forRoot({ ...options, clock: new FakeClock() })],
      controllers,
    });

  it.each(['interceptor', 'filter'])('permit leak: the end fails in an own %s', async (path) => {
    const slots = new WatchedLimiter(1);
    const app = await start([FailingController], { policies: { slots: slots.policy } });
    for (let round = 0; round < 5; round++) {
      const failing = app.open(`/failing/${path}`);
      await eventually(() => slots.statistics.totalSuccessfulLeases === round + 1);
      // What a filter throws reaches nobody: the client gives up.
      if (path === 'filter') failing.abort();
      else expect((await failing.answer).status).toBe(500);
      await eventually(() => slots.held === 0);
    }
  });

  it('key collision: classes of one name count for themselves', async () => {
    const app = await start([namesake('left'), namesake('right')]);
    expect(await app.statuses('/left', 6)).toEqual([...all(200, 5), 429]);
    expect(await app.statuses('/right', 6)).toEqual([...all(200, 5), 429]);
    const slow = [app.open('/left/slow'), app.open('/right/slow')];
    await eventually(() => gate.current.waiting === 2);
    expect((await app.get('/left/slow')).status).toBe(429);
    gate.current.open();
    for (const { answer } of slow) expect((await answer).status).toBe(200);
  });

  it('bypass: a path parameter makes no key of its own', async () => {
    const app = await start([KeyController]);
    const statuses: number[] = [];
    for (let code = 0; code < 20; code++) statuses.push((await app.get(`/verify/${code}`)).status);
    expect(statuses).toEqual([...all(200, 5), ...all(429, 15)]);
    const service = app.app.get(RateLimitingService, { strict: false });
    expect(service.overview().find(({ policy }) => policy === 'perRoute')?.partitions).toBe(1);
  });

  it('bypass: keys that a client invents are bounded by its address', async () => {
    const app = await start([KeyController]);
    const statuses: number[] = [];
    for (let key = 0; key < 60; key++)
      statuses.push((await app.get('/keyed', { 'x-api-key': `key-${key}` })).status);
    expect(statuses).toEqual([...all(200, 20), ...all(429, 40)]);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'prototype collision: the key %s counts as any other',
    async (key) => {
      const app = await start([KeyController]);
      expect(await app.statuses('/keyed', 3, { 'x-api-key': key })).toEqual([200, 200, 429]);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );

  it('wrong default: health probes pass and leave no trace', async () => {
    const app = await start([KeyController], {
      ...OPTIONS,
      global: { ...minute, permitLimit: 3 },
    });
    expect(await app.statuses('/health', 50)).toEqual(all(200, 50));
    expect(await app.statuses('/client', 4)).toEqual([200, 200, 200, 429]);
  });

  it('rounding: who comes back after Retry-After is granted, a hundred times', async () => {
    const clock = new FakeClock();
    const app = await startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          clock,
          policies: { ...OPTIONS.policies, perClient: { ...minute, permitLimit: 1, windowMs: 1_001 } },
        }),
      ],
      controllers: [KeyController],
    });
    for (let round = 0; round < 100; round++) {
      expect((await app.get('/client')).status).toBe(200);
      clock.advance((round * 37) % 1_001);
      // A window may have ended on the way: then the first of the two begins the next.
      await app.get('/client');
      const refused = await app.get('/client');
      expect(refused.status).toBe(429);
      expect(refused.headers['retry-after']).toMatch(/^[1-9][0-9]*$/);
      clock.advance(Number(refused.headers['retry-after']) * 1_000);
    }
  });
});

describe('behind a proxy', () => {
  const express = PLATFORMS[0]!;
  afterEach(stopApps);

  const start = (trusted: string | number = 'loopback') => {
    const adapter = new ExpressAdapter();
    adapter.set('trust proxy', trusted);
    return startApp(
      { name: express.name, adapter: () => adapter },
      {
        imports: [RateLimitingModule.forRoot({ ...OPTIONS, clock: new FakeClock() })],
        controllers: [KeyController],
      },
    );
  };
  const ask = async (app: TestApp, addresses: string[]): Promise<number[]> => {
    const statuses: number[] = [];
    for (const address of addresses)
      statuses.push((await app.get('/client', { 'x-forwarded-for': address })).status);
    return statuses;
  };
  const many = (count: number, make: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => make(index + 1));

  it.each([1, 2])('key: a client is who is before the trusted of two proxies: %d', async (hops) => {
    const app = await start(hops);
    const first = many(11, () => '198.51.100.7, 10.0.0.9');
    const statuses = await ask(app, [...first, '198.51.100.8, 10.0.0.9']);
    expect(statuses).toEqual([...all(200, 10), 429, hops === 1 ? 429 : 200]);
  });

  it('bypass: a port in the address makes no other client', async () => {
    const app = await start();
    const ports = many(12, (index) => `198.51.100.7:${50_000 + index}`);
    expect(await ask(app, ports)).toEqual([...all(200, 10), 429, 429]);
    expect(await ask(app, ['[2001:db8::1]:443', 'no address at all'])).toEqual([200, 200]);
  });

  it('bypass: a customer can not rotate inside its IPv6 prefix', async () => {
    const app = await start();
    const inside = many(40, (index) => `2001:db8:1:2:${index.toString(16)}::${index}`);
    expect(await ask(app, inside)).toEqual([...all(200, 10), ...all(429, 30)]);
    const next = many(10, (index) => `2001:db8:1:3::${index}`);
    expect(await ask(app, next)).toEqual(all(200, 10));
  });
});

describe('robustness: a condition on a request whose body nobody has read', () => {
  it('leaves the stream to the handler', async () => {
    @Module({ imports: [RateLimitingModule.forRoot(OPTIONS)], controllers: [KeyController] })
    class RootModule {}
    const app = await NestFactory.create(RootModule, new ExpressAdapter(), {
      logger: false,
      bodyParser: false,
    });
    await app.listen(0, '127.0.0.1');
    const { port } = new TestApp(app);
    const body = { text: 'x'.repeat(1_000_000) };
    const answer = await send(port, { method: 'POST', path: '/webhook', headers: { 'x-hook': 'yes' }, body });
    expect(answer).toMatchObject({ status: 201, body: String(JSON.stringify(body).length) });
    expect(answer.headers.ratelimit).toBe('"perClient";r=9;t=60');
    await app.close();
  });
});
