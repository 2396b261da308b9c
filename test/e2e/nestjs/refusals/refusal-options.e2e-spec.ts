import type { INestApplication } from '@nestjs/common';
import { Controller, Get, Options, Post, UnauthorizedException } from '@nestjs/common';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import { DelegatedRateLimiterPolicy, EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import { RateLimitPartition } from '@ratelease/limiters';
import { PLATFORMS, bootError, startApp, stopApps } from '../fixtures/test-app.js';

const limit = (permitLimit: number, windowMs = 60_000) =>
  ({ algorithm: 'fixedWindow', permitLimit, windowMs }) as const;

const OPTIONS: RateLimitingModuleOptions = {
  policies: {
    hourly: limit(100, 3_600_000),
    minute: limit(2),
    login: { ...limit(1), headers: false },
    calm: { algorithm: 'concurrency', permitLimit: 1, rejectionStatusCode: 503 },
    quiet: new DelegatedRateLimiterPolicy(
      () => RateLimitPartition.getFixedWindowLimiter('k', () => ({ permitLimit: 1, windowMs: 9_000 })),
      undefined,
      { headers: false, rejectionStatusCode: 420 },
    ),
  },
};

@Controller()
class StyledController {
  @Get('both')
  @EnableRateLimiting(['hourly', 'minute'])
  both(): string {
    return 'both';
  }

  @Post('login')
  @EnableRateLimiting(['login', 'hourly'], { phase: 'guard' })
  login(): string {
    throw new UnauthorizedException();
  }

  @Get('quiet')
  @EnableRateLimiting('quiet')
  quiet(): string {
    return 'quiet';
  }

  @Get('expensive')
  @EnableRateLimiting('calm', { permitCount: 2 })
  expensive(): string {
    return 'never';
  }

  @Options('both')
  @EnableRateLimiting('minute')
  options(): string {
    return 'options';
  }
}

describe.each(PLATFORMS)('answers in another style on $name', (platform) => {
  afterEach(stopApps);

  const start = (options: RateLimitingModuleOptions = {}, prepare?: (app: INestApplication) => unknown) =>
    startApp(
      platform,
      {
        imports: [RateLimitingModule.forRoot({ clock: new FakeClock(), ...OPTIONS, ...options })],
        controllers: [StyledController],
      },
      prepare,
    );

  it('has the older fields, of the limit that is nearest to its end', async () => {
    const app = await start({ legacyHeaders: true });
    const legacy = async () => {
      const { headers } = await app.get('/both');
      return ['limit', 'remaining', 'reset'].map((name) => headers[`x-ratelimit-${name}`]);
    };
    expect(await legacy()).toEqual(['2', '1', '60']);
    expect(await legacy()).toEqual(['2', '0', '60']);
    expect(await legacy()).toEqual(['2', '0', '60']);
    const plain = await (await start()).get('/both');
    expect(plain.headers).not.toHaveProperty('x-ratelimit-limit');
  });

  it.each([true, false])('has problem details, always or for who asks for them: %p', async (always) => {
    const app = await start({ problemDetails: always });
    const headers: Record<string, string> = always
      ? {}
      : { accept: 'application/json, application/problem+json;q=0.9' };
    await app.statuses('/both', 2, headers);
    const refused = await app.get('/both', headers);
    expect(refused.status).toBe(429);
    expect(refused.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(refused.headers['retry-after']).toBe('60');
    expect(JSON.parse(refused.body)).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Request cannot be satisfied as assigned quota has been exceeded',
      status: 429,
      detail: 'Too many requests.',
      'violated-policies': ['minute'],
    });
    if (!always) expect((await app.get('/both')).headers['content-type']).toMatch(/^application\/json/);
  });

  it('takes a status that onRejected sets into the problem', async () => {
    const app = await start({
      problemDetails: true,
      onRejected: (_rejection, { response }) => {
        (response as { statusCode: number }).statusCode = 503;
      },
    });
    await app.statuses('/both', 2);
    const refused = await app.get('/both');
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.body)).toMatchObject({ status: 503 });
  });

  it('says nothing about a policy without headers but when to come back', async () => {
    const app = await start({ problemDetails: true });
    const login = () => app.send({ method: 'POST', path: '/login', body: {} });
    const first = await login();
    expect(first.status).toBe(401);
    expect(first.headers.ratelimit).toBe('"hourly";r=99;t=3600');
    const refused = await login();
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('60');
    expect(JSON.stringify(refused.headers)).not.toContain('login');
    expect(refused.body).not.toContain('violated');
    expect((await app.get('/quiet')).headers).not.toHaveProperty('ratelimit');
    const quiet = await app.get('/quiet');
    expect(quiet.status).toBe(420);
    expect(quiet.headers['retry-after']).toBe('9');
  });

  it('has the status of its policy', async () => {
    const app = await start();
    expect((await app.get('/expensive')).status).toBe(503);
  });

  it('spreads the times to come back by chance, and none before the permits', async () => {
    const app = await start({ retryAfterJitter: 0.2 });
    await app.statuses('/both', 2);
    const times = new Set<number>();
    for (let sent = 0; sent < 60; sent++) times.add(Number((await app.get('/both')).headers['retry-after']));
    for (const time of times) expect(time >= 60 && time <= 72).toBe(true);
    expect(times.size).toBeGreaterThan(3);
  });

  it('exposes its fields to scripts of other origins, beside what CORS exposes already', async () => {
    const app = await start({ exposeHeaders: true }, (nest) =>
      nest.enableCors({ exposedHeaders: ['X-Own', 'Retry-After'] }),
    );
    const headers = { origin: 'https://example.org' };
    const exposed = String((await app.get('/both', headers)).headers['access-control-expose-headers']);
    expect(
      exposed
        .toLowerCase()
        .split(/\s*,\s*/)
        .sort(),
    ).toEqual(['ratelimit', 'ratelimit-policy', 'retry-after', 'x-own']);
    await app.statuses('/both', 1);
    const refused = await app.get('/both', headers);
    expect(refused.status).toBe(429);
    expect(refused.headers['access-control-allow-origin']).toBe('*');
    expect(String(refused.headers['access-control-expose-headers'])).toContain('ratelimit');
  });

  const preflight = { origin: 'https://example.org', 'access-control-request-method': 'GET' };

  it('never counts a preflight, with CORS or with a handler of its own', async () => {
    const app = await start({ global: limit(2), globalPhase: 'middleware' });
    for (let sent = 0; sent < 5; sent++) {
      const answer = await app.send({ method: 'OPTIONS', path: '/both', headers: preflight });
      expect(answer.status).toBe(200);
    }
    expect(await app.statuses('/both', 3)).toEqual([200, 200, 429]);
    expect((await app.send({ method: 'OPTIONS', path: '/both' })).status).toBe(429);
  });

  it('counts preflights where it is told to', async () => {
    const app = await start({ countPreflights: true });
    const ask = () => app.send({ method: 'OPTIONS', path: '/both', headers: preflight });
    expect([(await ask()).status, (await ask()).status, (await ask()).status]).toEqual([200, 200, 429]);
  });
});

describe('the boot', () => {
  afterEach(stopApps);

  it.each([
    ['retryAfterJitter', -0.1],
    ['retryAfterJitter', 1.5],
    ['legacyHeaders', 'yes'],
    ['problemDetails', 1],
    ['logKeys', 'plain'],
  ])('stops at %s: %p', async (option, value) => {
    const error = await bootError(PLATFORMS[0]!, {
      imports: [RateLimitingModule.forRoot({ [option]: value })],
    });
    expect(error.code).toBe('ERR_RL_INVALID_OPTION');
    expect(error.message).toContain(option);
  });

  it.each([
    ['headers', 'no'],
    ['shadow', 1],
    ['rejectionStatusCode', 200],
  ])('stops at %s: %p of a policy', async (option, value) => {
    const policies = { a: { ...limit(1), [option]: value } as never };
    const error = await bootError(PLATFORMS[0]!, { imports: [RateLimitingModule.forRoot({ policies })] });
    expect(error.code).toBe('ERR_RL_INVALID_OPTION');
    expect(error.message).toContain(`Policy "a": ${option}`);
  });
});
