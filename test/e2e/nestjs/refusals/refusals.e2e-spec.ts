import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { Catch, Controller, ConflictException, Get, Header, HttpException } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { RateLimitPartition } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import type { OnRejected, RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  DelegatedRateLimiterPolicy,
  EnableRateLimiting,
  RateLimitRejectedException,
  RateLimitingModule,
} from '@ratelease/nestjs';
import { eventually } from '../fixtures/eventually.js';
import type { Platform, TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const shared = (permitLimit: number, windowMs = 60_000) =>
  ({ algorithm: 'fixedWindow', permitLimit, windowMs }) as const;
const empty = (onRejected?: OnRejected) =>
  new DelegatedRateLimiterPolicy(
    () => RateLimitPartition.getFixedWindowLimiter('k', () => ({ permitLimit: 1, windowMs: 60_000 })),
    onRejected,
  );

const handled: string[] = [];

@Controller()
class TargetController {
  @Get('target')
  @EnableRateLimiting('policy')
  @Header('Cache-Control', 'public, max-age=60')
  target(): string {
    handled.push('target');
    return 'ok';
  }

  @Get('two')
  @EnableRateLimiting(['minutely', 'hourly'])
  two(): string {
    return 'ok';
  }

  @Get('global-only')
  globalOnly(): string {
    return 'ok';
  }
}

function start(
  platform: Platform,
  options: RateLimitingModuleOptions,
  filters: ExceptionFilter[] = [],
): Promise<TestApp> {
  handled.length = 0;
  const policies = { policy: shared(100), hourly: shared(100), minutely: shared(100), ...options.policies };
  return startApp(
    platform,
    { imports: [RateLimitingModule.forRoot({ ...options, policies })], controllers: [TargetController] },
    (app) => app.useGlobalFilters(...filters),
  );
}

const setsStatus =
  (status: number, note: string[] = []): OnRejected =>
  (rejection, context) => {
    note.push(`${status}:${rejection.policyName}:${rejection.reason}`);
    (context.response as { status(status: number): unknown }).status(status);
  };

describe.each(PLATFORMS)('a refusal on $name', (platform) => {
  afterEach(stopApps);

  it('goes through exception filters, with its fields and all that the exception tells', async () => {
    const seen: RateLimitRejectedException[] = [];
    @Catch(RateLimitRejectedException)
    class ProblemFilter implements ExceptionFilter {
      constructor(readonly host: HttpAdapterHost) {}

      catch(exception: RateLimitRejectedException, context: ArgumentsHost): void {
        seen.push(exception);
        const body = { type: 'about:blank', status: exception.getStatus() };
        this.host.httpAdapter.reply(context.switchToHttp().getResponse(), body, exception.getStatus());
      }
    }
    handled.length = 0;
    const app = await startApp(
      platform,
      {
        imports: [
          RateLimitingModule.forRoot({
            clock: new FakeClock(),
            policies: { policy: shared(1, 1_001), hourly: shared(1), minutely: shared(1) },
          }),
        ],
        controllers: [TargetController],
      },
      (app) => app.useGlobalFilters(new ProblemFilter(app.get(HttpAdapterHost))),
    );
    await app.get('/target');
    const refused = await app.get('/target');
    expect(refused.status).toBe(429);
    expect(JSON.parse(refused.body)).toEqual({ type: 'about:blank', status: 429 });
    expect(refused.headers).toMatchObject({
      'retry-after': '2',
      'cache-control': 'no-store',
      ratelimit: '"policy";r=0;t=2',
    });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ policyName: 'policy', reason: 'endpoint', retryAfterMs: 1_001 });
    expect(seen[0]).toBeInstanceOf(HttpException);
    expect(seen[0]!.lease.isAcquired).toBe(false);
    expect(handled).toEqual(['target']);
  });

  it.each([
    [400, '1'],
    [1_000, '1'],
    [1_001, '2'],
    [31_536_000_000, '31536000'],
  ])('with %d ms left says Retry-After: %s', async (windowMs, retryAfter) => {
    const app = await start(platform, { clock: new FakeClock(), policies: { policy: shared(1, windowMs) } });
    expect((await app.get('/target')).headers).not.toHaveProperty('retry-after');
    expect((await app.get('/target')).headers['retry-after']).toBe(retryAfter);
  });

  it('says in Retry-After when all exhausted policies can be passed, and lists both', async () => {
    const clock = new FakeClock();
    const app = await start(platform, {
      clock,
      policies: { hourly: shared(2, 3_600_000), minutely: shared(1, 60_000) },
    });
    const first = await app.get('/two');
    expect(first.headers.ratelimit).toBe('"minutely";r=0;t=60, "hourly";r=1;t=3600');
    expect(first.headers['ratelimit-policy']).toBe('"minutely";q=1;w=60, "hourly";q=2;w=3600');
    const byMinute = await app.get('/two');
    expect([byMinute.status, byMinute.headers['retry-after']]).toEqual([429, '60']);
    clock.advance(60_000);
    expect((await app.get('/two')).status).toBe(200);
    const byBoth = await app.get('/two');
    expect([byBoth.status, byBoth.headers['retry-after']]).toEqual([429, '3540']);
  });

  it('writes names as structured strings', async () => {
    const app = await start(platform, {
      policies: { 'a "b"\\é': shared(1) },
      endpoints: [{ controller: TargetController, handler: 'target', policies: 'a "b"\\é' }],
    });
    expect((await app.get('/target')).headers['ratelimit-policy']).toBe('"a \\"b\\"\\\\%C3%A9";q=1;w=60');
  });

  it('has the status of the options', async () => {
    const app = await start(platform, { rejectionStatusCode: 503, policies: { policy: shared(1) } });
    expect(await app.statuses('/target', 2)).toEqual([200, 503]);
    expect(JSON.parse((await app.get('/target')).body)).toMatchObject({ statusCode: 503 });
  });

  it.each(['returned', 'thrown'])('is answered by the HttpException that onRejected has %s', async (how) => {
    const onRejected: OnRejected = async () => {
      await Promise.resolve();
      const answer = new ConflictException('own words');
      if (how === 'thrown') throw answer;
      return answer;
    };
    const app = await start(platform, { onRejected, policies: { policy: shared(1) } });
    await app.get('/target');
    const refused = await app.get('/target');
    expect(refused.status).toBe(409);
    expect(refused.body).toContain('own words');
    expect(refused.headers['retry-after']).toBe('60');
    expect(handled).toEqual(['target']);
  });

  it('takes over the status that onRejected sets', async () => {
    const app = await start(platform, { onRejected: setsStatus(418), policies: { policy: shared(1) } });
    await app.get('/target');
    const refused = await app.get('/target');
    expect(refused.status).toBe(418);
    expect(JSON.parse(refused.body)).toEqual({ statusCode: 418, message: 'Too many requests.' });
  });

  it('is over where onRejected has sent the response', async () => {
    const onRejected: OnRejected = (_rejection, context) => {
      const response = context.response as { status(code: number): { send(body: string): unknown } };
      response.status(402).send('pay first');
    };
    const thrown: unknown[] = [];
    @Catch()
    class NotingFilter implements ExceptionFilter {
      catch(exception: unknown): void {
        thrown.push(exception);
      }
    }
    const app = await start(platform, { onRejected, policies: { policy: shared(1) } }, [new NotingFilter()]);
    await app.get('/target');
    const refused = await app.get('/target');
    expect([refused.status, refused.body]).toEqual([402, 'pay first']);
    expect(handled).toEqual(['target']);
    expect(thrown).toEqual([]);
  });

  it('is a server error where onRejected fails', async () => {
    const onRejected: OnRejected = async () => {
      await Promise.resolve();
      throw new Error('broken callback');
    };
    const app = await start(platform, { onRejected, policies: { policy: shared(1) } });
    expect(await app.statuses('/target', 2)).toEqual([200, 500]);
    expect(handled).toEqual(['target']);
  });

  it('is told the policy, or else the module, and never both', async () => {
    const notes: string[] = [];
    const module = setsStatus(430, notes);
    const own = { policy: empty(setsStatus(431, notes)) };
    const cases: [RateLimitingModuleOptions, string][] = [
      [{ policies: own, onRejected: module }, '431:policy:endpoint'],
      [{ policies: { policy: empty() }, onRejected: module }, '430:policy:endpoint'],
      [{ policies: own, global: shared(1), onRejected: module }, '431:global:global'],
      [{ policies: own, global: shared(1), globalPhase: 'guard', onRejected: module }, '431:global:global'],
      [{ policies: { policy: shared(9) }, global: shared(1), onRejected: module }, '430:global:global'],
      // Before routing nobody knows of an endpoint.
      [
        { policies: own, global: shared(1), globalPhase: 'middleware', onRejected: module },
        '430:global:global',
      ],
    ];
    for (const [options, note] of cases) {
      notes.length = 0;
      const app = await start(platform, options);
      expect(await app.statuses('/target', 2)).toEqual([200, Number(note.slice(0, 3))]);
      expect(notes).toEqual([note]);
      await stopApps();
    }
  });

  it('calls nothing for a client that left during onRejected, and loses no permit', async () => {
    let calls = 0;
    let aborted = false;
    const onRejected: OnRejected = (_rejection, _context, signal) => {
      calls++;
      return new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          resolve();
        });
      });
    };
    const app = await start(platform, { onRejected, policies: { policy: empty() } });
    await app.get('/target');
    const leaving = app.open('/target');
    await eventually(() => calls === 1);
    leaving.abort();
    await eventually(() => aborted);
  });
});

describe('responses on Express and Fastify', () => {
  afterEach(stopApps);

  it('have the same fields, byte by byte', async () => {
    const fields: string[][] = [];
    for (const platform of PLATFORMS) {
      const app = await start(platform, { clock: new FakeClock(), policies: { policy: shared(1) } });
      const answers = [await app.get('/target'), await app.get('/target')];
      fields.push(answers.flatMap(({ rawHeaders }) => ours(rawHeaders)));
      await stopApps();
    }
    expect(fields[0]).toHaveLength(6);
    // Express keeps the place of a field that was set before; the order of fields means nothing.
    expect([...fields[1]!].sort()).toEqual([...fields[0]!].sort());
  });
});

function ours(rawHeaders: readonly string[]): string[] {
  const pairs: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (/^(ratelimit.*|retry-after)$/i.test(name)) pairs.push(`${name}: ${rawHeaders[index + 1]}`);
    if (/^cache-control$/i.test(name) && rawHeaders[index + 1] === 'no-store')
      pairs.push(`${name}: no-store`);
  }
  return pairs;
}
