import { Controller, Get } from '@nestjs/common';
import { ObjectDisposedError, RateLimitPartition } from '@ratelease/limiters';
import { EnableRateLimiting, RateLimitingModule, RateLimitingService } from '@ratelease/nestjs';
import { DeafLimiter } from '../fixtures/deaf-limiter.js';
import { eventually } from '../fixtures/eventually.js';
import type { Platform, TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const ran: string[] = [];

@Controller()
class WorkController {
  @Get('interceptor')
  @EnableRateLimiting('deaf')
  inInterceptor(): number {
    return ran.push('interceptor');
  }

  @Get('guard')
  @EnableRateLimiting('deaf', { phase: 'guard' })
  inGuard(): number {
    return ran.push('guard');
  }

  @Get('handler')
  @EnableRateLimiting('deaf', { phase: 'handler' })
  inHandler(): number {
    return ran.push('handler');
  }

  @Get('chain')
  @EnableRateLimiting(['slots', 'deaf'])
  inChain(): number {
    return ran.push('chain');
  }
}

function start(platform: Platform, deaf: DeafLimiter): Promise<TestApp> {
  ran.length = 0;
  return startApp(platform, {
    imports: [
      RateLimitingModule.forRoot({
        policies: {
          deaf: () => RateLimitPartition.get('all', () => deaf),
          slots: { algorithm: 'concurrency', permitLimit: 5 },
        },
      }),
    ],
    controllers: [WorkController],
  });
}

describe.each(PLATFORMS)('on $name a limiter that doesn’t listen to the signal', (platform) => {
  afterEach(stopApps);

  it.each(['interceptor', 'guard', 'handler', 'chain'])(
    'keeps no request waiting when the application ends, and gets back what it grants late: %s',
    async (path) => {
      const deaf = new DeafLimiter();
      const lease = deaf.limiter.attemptAcquire();
      const started = await start(platform, deaf);
      const { answer } = started.open(`/${path}`);
      await eventually(() => deaf.queued === 1);
      await started.app.close();
      const { status, headers } = await answer;
      expect([status, headers.connection]).toEqual([503, 'close']);
      lease.dispose();
      await eventually(() => deaf.queued === 0 && deaf.held === 0);
      expect(ran).toEqual([]);
    },
  );

  it('keeps no code outside handlers waiting either', async () => {
    const deaf = new DeafLimiter();
    const lease = deaf.limiter.attemptAcquire();
    const { app } = await start(platform, deaf);
    const service = app.get(RateLimitingService, { strict: false });
    const controller = new AbortController();
    const given = service.acquire('deaf', service.createContext(), { signal: controller.signal });
    const patient = service.acquire('deaf', service.createContext());
    const ended = patient.catch((error: unknown) => error);
    await eventually(() => deaf.queued === 2);
    controller.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    await app.close();
    expect(await ended).toBeInstanceOf(ObjectDisposedError);
    lease.dispose();
    await eventually(() => deaf.queued === 0 && deaf.held === 0);
  });

  it('gets back what it grants to a client that has left, whose handler never runs', async () => {
    const deaf = new DeafLimiter();
    const lease = deaf.limiter.attemptAcquire();
    const app = await start(platform, deaf);
    const leaving = app.open('/interceptor');
    await eventually(() => deaf.queued === 1);
    leaving.abort();
    await app.isDeserted();
    const overview = app.app.get(RateLimitingService, { strict: false });
    await eventually(() => overview.overview().every(({ queued }) => queued === 0));
    lease.dispose();
    await eventually(() => deaf.queued === 0 && deaf.held === 0);
    expect(ran).toEqual([]);
  });
});
