import type { ArgumentsHost, CanActivate, ExceptionFilter } from '@nestjs/common';
import { Catch, Controller, Get, UseFilters, UseGuards } from '@nestjs/common';
import { RateLimitPartition } from '@ratelease/limiters';
import type { CanceledEvent, RateLimitingContext } from '@ratelease/nestjs';
import { ConcurrencyLimit, EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };
const started: string[] = [];
const failures: Error[] = [];

class SlowGuard implements CanActivate {
  async canActivate(): Promise<boolean> {
    await gate.current.pass();
    return true;
  }
}

@Catch()
class NotingFilter implements ExceptionFilter {
  catch(exception: Error, host: ArgumentsHost): void {
    failures.push(exception);
    const response = host.getArgByIndex<{ status(code: number): { send(body: string): void } }>(1);
    response.status(499).send('');
  }
}

@Controller()
class LateController {
  @Get('late')
  @EnableRateLimiting('slots', { phase: 'guard' })
  @UseGuards(SlowGuard)
  @UseFilters(NotingFilter)
  late(): string {
    started.push('late');
    return 'late';
  }
}

@Controller()
class RatedController {
  @Get('rated')
  @EnableRateLimiting('window')
  @UseGuards(SlowGuard)
  @UseFilters(NotingFilter)
  rated(): string {
    started.push('rated');
    return 'rated';
  }

  @Get('keyed')
  @EnableRateLimiting('keyed')
  @UseFilters(NotingFilter)
  keyed(): string {
    started.push('keyed');
    return 'keyed';
  }
}

/** Says that there is no limit, as soon as the client has left. */
const noLimit = async ({ signal }: RateLimitingContext): Promise<boolean> => {
  void gate.current.pass();
  if (!signal.aborted) await once(signal, 'abort');
  return false;
};

/** The same, of what has no context. */
const noLimitAtAll = (): boolean => false;

@Controller()
@UseFilters(NotingFilter)
class ExemptController {
  @Get('guard')
  @EnableRateLimiting('slots', { phase: 'guard', when: noLimit })
  guard(): void {
    started.push('guard');
  }

  @Get('interceptor')
  @EnableRateLimiting('slots', { phase: 'interceptor', when: noLimit })
  interceptor(): void {
    started.push('interceptor');
  }

  @Get('handler')
  @EnableRateLimiting('slots', { phase: 'handler', when: noLimit })
  handler(): void {
    started.push('handler');
  }

  @Get('both')
  @EnableRateLimiting('slots', { when: noLimit })
  @ConcurrencyLimit(1, { when: noLimitAtAll })
  both(): void {
    started.push('both');
  }
}

describe.each(PLATFORMS)('a client that leaves on $name', (platform) => {
  beforeEach(() => {
    gate.current = new Gate();
    started.length = 0;
    failures.length = 0;
  });
  afterEach(stopApps);

  it('gives back what the guard took while later guards run, and its handler never runs', async () => {
    const slots = new WatchedLimiter(1);
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ policies: { slots: slots.policy } })],
      controllers: [LateController],
    });
    const leaving = app.open('/late');
    await eventually(() => gate.current.waiting === 1);
    expect(slots.held).toBe(1);
    leaving.abort();
    await eventually(() => slots.held === 0);
    gate.current.open();
    await eventually(() => failures.length + started.length > 0);
    expect(started).toEqual([]);
    expect(failures[0]?.name).toBe('ClientGoneException');
    expect((await app.get('/late')).status).toBe(200);
    await eventually(() => slots.held === 0);
  });

  it.each(['/rated', '/keyed'])(
    'before its permit was taken is charged nothing and not served: %s',
    async (path) => {
      const signals: AbortSignal[] = [];
      const canceled: CanceledEvent[] = [];
      const note = (event: unknown): unknown => canceled.push(event as CanceledEvent);
      subscribe('ratelease:canceled', note);
      const window = { permitLimit: 2, windowMs: 60_000 };
      const app = await startApp(platform, {
        imports: [
          RateLimitingModule.forRoot({
            policies: {
              window: { algorithm: 'fixedWindow', ...window },
              keyed: async (context) => {
                signals.push(context.signal);
                await gate.current.pass();
                return RateLimitPartition.getFixedWindowLimiter('all', () => window);
              },
            },
          }),
        ],
        controllers: [RatedController],
      });
      const leaving = app.open(path);
      await eventually(() => gate.current.waiting === 1);
      leaving.abort();
      await app.isDeserted();
      gate.current.open();
      await eventually(() => failures.length + started.length > 0);
      expect(started).toEqual([]);
      expect(failures[0]?.name).toBe('ClientGoneException');
      if (path === '/keyed') expect(signals[0]?.aborted).toBe(true);
      unsubscribe('ratelease:canceled', note);
      expect(canceled.map(({ policies, waitedMs }) => [...policies, waitedMs])).toEqual([
        [path === '/rated' ? 'window' : 'keyed', 0],
      ]);
      expect((await app.get(path)).headers['ratelimit']).toMatch(/;r=1;/);
    },
  );

  it.each(['guard', 'interceptor', 'handler', 'both'])(
    'is served as without the module where it is found to have no limit: %s',
    async (path) => {
      const slots = new WatchedLimiter(1);
      const app = await startApp(platform, {
        imports: [RateLimitingModule.forRoot({ policies: { slots: slots.policy } })],
        controllers: [ExemptController],
      });
      const leaving = app.open(`/${path}`);
      await eventually(() => gate.current.waiting === 1);
      leaving.abort();
      await eventually(() => failures.length + started.length > 0);
      expect(failures).toEqual([]);
      expect(started).toEqual([path]);
    },
  );
});
