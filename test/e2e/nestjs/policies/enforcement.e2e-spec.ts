import type { CanActivate, ExecutionContext, PipeTransform } from '@nestjs/common';
import {
  Body,
  Controller,
  Get,
  HttpCode,
  Injectable,
  Module,
  Post,
  Scope,
  SetMetadata,
  UnauthorizedException,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, Reflector } from '@nestjs/core';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimitingContext, RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  DisableRateLimiting,
  EnableRateLimiting,
  RateLimitingGuard,
  RateLimitingInterceptor,
  RateLimitingModule,
  byClient,
  byUser,
} from '@ratelease/nestjs';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const shared = (permitLimit: number) =>
  ({ algorithm: 'fixedWindow', permitLimit, windowMs: 60_000 }) as const;
const windows = (limits: Record<string, number>): RateLimitingModuleOptions => ({
  clock: new FakeClock(),
  policies: Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, shared(limit)])),
});

@Injectable()
class AuthGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers: Record<string, string>; user?: unknown }>();
    const user = request.headers['x-user'];
    const needsUser = this.reflector.get<boolean | undefined>('needs-user', context.getHandler()) ?? false;
    if (user !== undefined) request.user = { id: user };
    if (user === undefined && needsUser) throw new UnauthorizedException();
    return true;
  }
}

class Query {
  cost = 0;
}

class QueryPipe implements PipeTransform {
  transform(value: { cost?: string }): Query {
    return Object.assign(new Query(), { cost: Number(value.cost) });
  }
}

const received: unknown[] = [];

@Controller()
class LoginController {
  @Post('login')
  @EnableRateLimiting('login', { phase: 'guard' })
  @UseGuards(AuthGuard)
  @SetMetadata('needs-user', true)
  login(): string {
    return 'welcome';
  }

  @Get('mine')
  @EnableRateLimiting('perUser')
  @UseGuards(AuthGuard)
  mine(): string {
    return 'mine';
  }

  @Post('query')
  @EnableRateLimiting('query', {
    phase: 'handler',
    permitCount: ({ args }: RateLimitingContext) => (args![0] as Query).cost,
    when: async ({ args }: RateLimitingContext) => (args![0] as Query).cost !== 7,
  })
  @HttpCode(202)
  @SetMetadata('needs-user', true)
  @UseGuards(AuthGuard)
  query(@Body(QueryPipe) query: Query): string {
    received.push(query);
    return 'answer';
  }

  @Get('twice')
  @EnableRateLimiting('twice')
  @UseGuards(RateLimitingGuard)
  @UseInterceptors(RateLimitingInterceptor)
  twice(): string {
    return 'ok';
  }

  @Get('twice-guard')
  @EnableRateLimiting('twice', { phase: 'guard' })
  @UseGuards(RateLimitingGuard, RateLimitingGuard)
  twiceGuard(): string {
    return 'ok';
  }

  @Get('cost')
  @EnableRateLimiting('cost', {
    permitCount: (context: RateLimitingContext) =>
      JSON.parse((context.request as { headers: { cost: string } }).headers.cost) as number,
  })
  cost(): string {
    return 'ok';
  }

  @Get('throwing-condition')
  @EnableRateLimiting('cost', {
    when: () => {
      throw new Error('broken condition');
    },
  })
  throwing(): string {
    return 'ok';
  }

  @Get('free')
  @DisableRateLimiting()
  free(): string {
    return 'free';
  }
}

const ALL = { login: 2, perUser: 2, query: 10, twice: 2, cost: 10 };

describe.each(PLATFORMS)('enforcement on $name', (platform) => {
  afterEach(stopApps);

  it('counts failed logins in the guard phase, before later guards', async () => {
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot(windows(ALL))],
      controllers: [LoginController],
    });
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 4; attempt++)
      statuses.push((await app.send({ method: 'POST', path: '/login' })).status);
    expect(statuses).toEqual([401, 401, 429, 429]);
  });

  it('knows the user in the interceptor phase', async () => {
    const options = windows(ALL);
    const policies = { ...options.policies, perUser: { ...shared(2), key: byUser({ orElse: byClient() }) } };
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ ...options, policies })],
      controllers: [LoginController],
    });
    expect(await app.statuses('/mine', 3, { 'x-user': 'ann' })).toEqual([200, 200, 429]);
    expect(await app.statuses('/mine', 3, { 'x-user': 'bob' })).toEqual([200, 200, 429]);
    expect(await app.statuses('/mine', 3)).toEqual([200, 200, 429]);
    expect(await app.statuses('/mine', 3, { 'x-user': '127.0.0.1' })).toEqual([200, 200, 429]);
  });

  it('takes permits after pipes in the handler phase, and keeps the metadata of the method', async () => {
    received.length = 0;
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot(windows(ALL))],
      controllers: [LoginController],
    });
    const ask = async (cost: number): Promise<[number, unknown]> => {
      const answer = await app.send({
        method: 'POST',
        path: '/query',
        body: { cost: String(cost) },
        headers: { 'x-user': 'u' },
      });
      return [answer.status, answer.headers.ratelimit];
    };
    expect((await app.send({ method: 'POST', path: '/query', body: { cost: '1' } })).status).toBe(401);
    expect(await ask(6)).toEqual([202, '"query";r=4;t=60']);
    expect(await ask(5)).toEqual([429, '"query";r=4;t=60']);
    expect(await ask(7)).toEqual([202, undefined]);
    expect(await ask(4)).toEqual([202, '"query";r=0;t=60']);
    expect(received).toEqual([6, 7, 4].map((cost) => Object.assign(new Query(), { cost })));
    expect(received[0]).toBeInstanceOf(Query);
  });

  it.each(['/twice', '/twice-guard'])('acquires once where it is bound several times: %s', async (path) => {
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot(windows(ALL))],
      controllers: [LoginController],
      providers: [
        { provide: APP_GUARD, useClass: RateLimitingGuard },
        { provide: APP_INTERCEPTOR, useClass: RateLimitingInterceptor },
      ],
    });
    const answers = [await app.get(path), await app.get(path), await app.get(path)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[0]!.headers.ratelimit).toBe('"twice";r=1;t=60');
  });

  it('is bound by the application alone with bind: false', async () => {
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ ...windows(ALL), bind: false })],
      controllers: [LoginController],
    });
    expect(await app.statuses('/twice', 3)).toEqual([200, 200, 429]);
    expect(await app.statuses('/mine', 4)).toEqual([200, 200, 200, 200]);
  });

  it('works for controllers of other modules, and for request-scoped ones', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {}
    @Controller('scoped')
    class ScopedController {
      constructor(readonly perRequest: PerRequest) {}

      @Get()
      @EnableRateLimiting('twice')
      get(): string {
        return this.perRequest.constructor.name;
      }
    }
    @Module({ controllers: [ScopedController], providers: [PerRequest] })
    class FeatureModule {}
    const app = await startApp(platform, {
      imports: [FeatureModule, RateLimitingModule.forRoot(windows(ALL))],
    });
    expect(await app.statuses('/scoped', 3)).toEqual([200, 200, 429]);
  });

  it('takes as many permits as the endpoint says', async () => {
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot(windows(ALL))],
      controllers: [LoginController],
    });
    const ask = async (cost: string): Promise<[number, unknown, unknown]> => {
      const { status, headers } = await app.get('/cost', { cost });
      return [status, headers.ratelimit, headers['retry-after']];
    };
    expect(await ask('4')).toEqual([200, '"cost";r=6;t=60', undefined]);
    expect(await ask('0')).toEqual([200, '"cost";r=6;t=60', undefined]);
    expect(await ask('7')).toEqual([429, '"cost";r=6;t=60', '60']);
    expect((await ask('11')).slice(0, 1)).toEqual([429]);
    expect((await ask('11'))[2]).toBeUndefined();
    expect((await ask('1.5'))[0]).toBe(500);
    expect((await ask('-1'))[0]).toBe(500);
    expect((await ask('"2"'))[0]).toBe(500);
    expect(await ask('6')).toEqual([200, '"cost";r=0;t=60', undefined]);
    expect(await ask('0')).toEqual([429, '"cost";r=0;t=60', '60']);
  });

  it('fails closed where a condition throws', async () => {
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot(windows(ALL))],
      controllers: [LoginController],
    });
    expect((await app.get('/throwing-condition')).status).toBe(500);
  });

  it('takes the global limiter early with globalPhase, and shows both', async () => {
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ ...windows(ALL), global: shared(4), globalPhase: 'guard' })],
      controllers: [LoginController],
    });
    expect((await app.get('/mine')).headers.ratelimit).toBe('"global";r=3;t=60, "perUser";r=1;t=60');
    expect((await app.send({ method: 'POST', path: '/query', body: { cost: '1' } })).status).toBe(401);
    expect((await app.get('/mine')).headers.ratelimit).toBe('"global";r=1;t=60, "perUser";r=0;t=60');
    expect((await app.get('/mine')).headers.ratelimit).toBe('"global";r=0;t=60, "perUser";r=0;t=60');
    expect((await app.get('/mine')).headers.ratelimit).toBe('"global";r=0;t=60');
    expect((await app.get('/free')).status).toBe(200);
  });
});
