import type { CanActivate, PipeTransform } from '@nestjs/common';
import {
  Body,
  Controller,
  Get,
  HttpCode,
  Injectable,
  Param,
  Post,
  Query,
  SetMetadata,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimitable, RateLimitingContext } from '@ratelease/nestjs';
import { ConcurrencyLimit, EnableRateLimiting, RateLimit, RateLimitingModule } from '@ratelease/nestjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { Replacing } from '../fixtures/replacing.js';
import type { Platform, TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const gate = { current: new Gate() };
const seen: unknown[] = [];

/** The expensive queries are those without a name. */
class PeopleQuery implements RateLimitable {
  name?: string;

  get isLimit(): boolean {
    return this.name === undefined;
  }
}

class FieldQuery implements RateLimitable {
  readonly isLimit = true;
}

class IgnorantQuery {
  name?: string;
}

/** As validation with `transform` does: an instance of the parameter's class, with everything that came in. */
@Injectable()
class TransformingPipe implements PipeTransform {
  transform(value: unknown, { metatype }: { metatype?: new () => object }): unknown {
    return typeof value === 'object' && metatype !== undefined && metatype !== Object
      ? Object.defineProperties(new metatype(), Object.getOwnPropertyDescriptors(value))
      : value;
  }
}

class RefusingGuard implements CanActivate {
  canActivate(): boolean {
    throw new UnauthorizedException();
  }
}

async function work(query: unknown): Promise<string> {
  seen.push(query);
  await gate.current.pass();
  return 'done';
}

@Controller()
class PeopleController {
  @Post('people')
  @ConcurrencyLimit(2)
  people(@Body() query: PeopleQuery): Promise<string> {
    return work(query);
  }

  @Post('field')
  @RateLimit()
  field(@Body() query: FieldQuery): Promise<string> {
    return work(query);
  }

  @Post('ignorant')
  @ConcurrencyLimit()
  ignorant(@Body() query: IgnorantQuery): Promise<string> {
    return work(query);
  }

  @Get('by/:size')
  @ConcurrencyLimit(1, {
    when: async (size: string, kind: string) => Promise.resolve(size === 'large' && kind !== 'free'),
    message: ({ request, handler }: RateLimitingContext) =>
      `${handler?.name}: ${request.headers['accept-language'] === 'de' ? 'Zu viele auf einmal.' : 'Too many at once.'}`,
  })
  by(@Param('size') size: string, @Query('kind') _kind: string): Promise<string> {
    return work(size);
  }

  @Post('above')
  @ConcurrencyLimit(1, { when: () => true, message: 'One at a time.' })
  @HttpCode(202)
  @UseGuards(RefusingGuard)
  @SetMetadata('any', 'thing')
  above(): Promise<string> {
    return work('above');
  }

  @Post('below')
  @HttpCode(202)
  @SetMetadata('any', 'thing')
  @EnableRateLimiting('three')
  @ConcurrencyLimit(1, { when: () => true, message: 'One at a time.' })
  below(): Promise<string> {
    return work('below');
  }

  @Get('replaced')
  @Replacing()
  @ConcurrencyLimit(1, { when: () => true })
  replaced(): Promise<string> {
    return work('replaced');
  }

  @Get('broken')
  @ConcurrencyLimit(1, {
    when: () => {
      throw new Error('broken');
    },
  })
  broken(): string {
    return 'never';
  }
}

function start(platform: Platform, withPipe = true): Promise<TestApp> {
  return startApp(
    platform,
    {
      imports: [
        RateLimitingModule.forRoot({
          clock: new FakeClock(),
          policies: { three: { algorithm: 'fixedWindow', permitLimit: 3, windowMs: 60_000 } },
        }),
      ],
      controllers: [PeopleController],
    },
    (app) => (withPipe ? app.useGlobalPipes(new TransformingPipe()) : undefined),
  );
}

const post = (app: TestApp, path: string, body: unknown = {}) => app.send({ method: 'POST', path, body });

describe.each(PLATFORMS)('a conditional limit on $name', (platform) => {
  beforeEach(() => {
    gate.current = new Gate();
    seen.length = 0;
  });
  afterEach(stopApps);

  it('bounds only the requests whose argument says so, after pipes, and nobody waits', async () => {
    const app = await start(platform);
    const expensive = [post(app, '/people'), post(app, '/people')];
    await eventually(() => gate.current.waiting === 2);
    expect(seen[0]).toBeInstanceOf(PeopleQuery);
    const refused = await post(app, '/people');
    expect(refused.status).toBe(429);
    expect(refused.headers).not.toHaveProperty('retry-after');
    expect(refused.headers.ratelimit).toBe('"PeopleController.people";r=0');

    const cheap = post(app, '/people', { name: 'Ada' });
    await eventually(() => gate.current.waiting === 3);
    gate.current.open();
    for (const answer of await Promise.all([...expensive, cheap])) expect(answer.status).toBe(201);
    expect((await cheap).headers).not.toHaveProperty('ratelimit');
    await eventually(() => gate.current.waiting === 0);
    expect((await post(app, '/people')).status).toBe(201);
  });

  it('never takes the word of a property that came in with the request', async () => {
    const app = await start(platform);
    const first = [post(app, '/people', { isLimit: false }), post(app, '/people', { isLimit: false })];
    await eventually(() => gate.current.waiting === 2);
    expect((await post(app, '/people', { isLimit: false })).status).toBe(429);
    const free = [
      post(app, '/ignorant', { isLimit: true }),
      post(app, '/ignorant', { isLimit: true }),
      post(app, '/people', { isLimit: true, name: 'Ada' }),
    ];
    await eventually(() => gate.current.waiting === 5);
    gate.current.open();
    for (const { answer } of [...first, ...free].map((answer) => ({ answer })))
      expect((await answer).status).toBe(201);
  });

  it.each([{}, { isLimit: false }])('takes a field with an initial value for the class: %p', async (body) => {
    const app = await start(platform);
    const first = post(app, '/field', body);
    await eventually(() => gate.current.waiting === 1);
    expect((await post(app, '/field', body)).status).toBe(429);
    gate.current.open();
    expect((await first).status).toBe(201);
  });

  it('applies where the class knows isLimit, but no pipe made an instance of it', async () => {
    const app = await start(platform, false);
    const first = [post(app, '/people', { name: 'Ada' }), post(app, '/people', { name: 'Ada' })];
    await eventually(() => gate.current.waiting === 2);
    expect((await post(app, '/people', { name: 'Ada', isLimit: false })).status).toBe(429);
    gate.current.open();
    await Promise.all(first);
  });

  it('asks a condition with the arguments of the handler, and tells its own message', async () => {
    const app = await start(platform);
    const first = app.open('/by/large');
    const others = ['/by/small', '/by/large?kind=free'].map((path) => app.open(path));
    await eventually(() => gate.current.waiting === 3);
    expect(JSON.parse((await app.get('/by/large')).body).message).toBe('by: Too many at once.');
    const german = await app.get('/by/large', { 'accept-language': 'de' });
    expect(JSON.parse(german.body).message).toBe('by: Zu viele auf einmal.');
    gate.current.open();
    for (const { answer } of [first, ...others]) expect((await answer).status).toBe(200);
  });

  it('leaves guards and status codes of the method alone, above and below itself', async () => {
    const app = await start(platform);
    expect((await post(app, '/above')).status).toBe(401);
    const first = post(app, '/below');
    await eventually(() => gate.current.waiting === 1);
    const refused = await post(app, '/below');
    expect(JSON.parse(refused.body)).toEqual({ statusCode: 429, message: 'One at a time.' });
    expect(refused.headers.ratelimit).toBe('"three";r=1;t=60, "PeopleController.below";r=0');
    gate.current.open();
    expect((await first).status).toBe(202);
    // The policy was charged for both; the limit on top of it is an acquisition of its own.
    expect((await post(app, '/below')).status).toBe(202);
    expect((await post(app, '/below')).headers['retry-after']).toBe('60');
  });

  it('survives a decorator that puts another function in the place of its method', async () => {
    const app = await start(platform);
    const first = app.open('/replaced');
    await eventually(() => gate.current.waiting === 1);
    expect((await app.get('/replaced')).status).toBe(429);
    gate.current.open();
    expect((await first.answer).status).toBe(200);
  });

  it('fails closed: a condition that throws is a server error', async () => {
    const app = await start(platform);
    expect(await app.statuses('/broken', 2)).toEqual([500, 500]);
  });

  it('gives its permit back when a client has left and the work has ended', async () => {
    const app = await start(platform);
    const leaving = app.open('/by/large');
    await eventually(() => gate.current.waiting === 1);
    leaving.abort();
    expect((await app.get('/by/large')).status).toBe(429);
    gate.current.open();
    await eventually(() => gate.current.waiting === 0);
    expect((await app.get('/by/large')).status).toBe(200);
  });
});
