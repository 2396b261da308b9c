import type { BeforeApplicationShutdown } from '@nestjs/common';
import { Controller, Get, Injectable, Sse } from '@nestjs/common';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import { EnableRateLimiting, RateLimitingModule, RateLimitingService, byClient } from '@ratelease/nestjs';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Observable } from 'rxjs';
import { NEVER, of, startWith } from 'rxjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const DAY_MS = 86_400_000;
const gate = { current: new Gate() };
const shutdown = { isReached: false };

@Controller()
class TimedController {
  @Get('limited')
  @EnableRateLimiting('window')
  limited(): string {
    return 'limited';
  }

  @Sse('events')
  @EnableRateLimiting('slots')
  events(): Observable<{ data: string }> {
    return NEVER.pipe(startWith({ data: 'first' }));
  }

  @Sse('complete')
  @EnableRateLimiting('slots')
  complete(): Observable<{ data: string }> {
    return of({ data: 'only' });
  }

  @Sse('late')
  @EnableRateLimiting('slots')
  async late(): Promise<Observable<{ data: string }>> {
    await gate.current.pass();
    return this.events();
  }
}

@Injectable()
class ShutdownWitness implements BeforeApplicationShutdown {
  beforeApplicationShutdown(): void {
    shutdown.isReached = true;
  }
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe.each(PLATFORMS)('on $name', (platform) => {
  beforeEach(() => {
    gate.current = new Gate();
    shutdown.isReached = false;
  });
  afterEach(stopApps);

  const start = (
    { policies, ...options }: RateLimitingModuleOptions,
    slots: WatchedLimiter = new WatchedLimiter(2),
  ) =>
    startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          policies: {
            slots: slots.policy,
            window: { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 1_000 },
            ...policies,
          },
          ...options,
        }),
      ],
      controllers: [TimedController],
      providers: [ShutdownWitness],
    });

  it('arithmetic: an answer that is written after the reset asks for a second all the same', async () => {
    const clock = new FakeClock();
    const app = await start({ clock, onRejected: () => clock.advance(2_000) });
    expect(await app.statuses('/limited', 1)).toEqual([200]);
    clock.advance(999);
    const refused = await app.get('/limited');
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.headers['ratelimit']).toMatch(/^"window";r=0;t=[01]$/);
  });

  it('arithmetic: a wait of a year is told to the second', async () => {
    const window = { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 365 * DAY_MS } as const;
    const app = await start({ clock: new FakeClock(), policies: { window } });
    await app.get('/limited');
    expect((await app.get('/limited')).headers['retry-after']).toBe('31536000');
  });

  it('memory leak: nothing keeps the async context of a request, in a window of minutes', async () => {
    const window = { algorithm: 'fixedWindow', permitLimit: 50, windowMs: 300_000, key: byClient() } as const;
    const contexts = new AsyncLocalStorage<object>();
    const seen: WeakRef<object>[] = [];
    const app = await startApp(
      platform,
      {
        imports: [RateLimitingModule.forRoot({ policies: { window, slots: new WatchedLimiter(1).policy } })],
        controllers: [TimedController],
      },
      (started) => {
        started.use((_request: unknown, _response: unknown, next: () => void) => {
          const context = { orm: Buffer.alloc(100_000) };
          seen.push(new WeakRef(context));
          contexts.run(context, next);
        });
      },
    );
    expect((await app.statuses('/limited', 100)).filter((status) => status === 200)).toHaveLength(50);
    await app.isDeserted();
    const kept = (): number => {
      collect();
      return seen.filter((context) => context.deref() !== undefined).length;
    };
    await eventually(() => kept() <= 1);
    expect(seen).toHaveLength(100);
  });

  it('shutdown: streams that hold permits hold nobody back', async () => {
    const slots = new WatchedLimiter(2);
    const app = await start({}, slots);
    const streams = [app.open('/events'), app.open('/events')];
    await Promise.all(streams.map(({ head }) => head));
    const closed = app.app.close();
    await eventually(() => shutdown.isReached);
    // The limiters are disposed by then: what is held is counted where it was granted.
    const inUse = () => app.app.get(RateLimitingService).overview()[0]?.inUse;
    expect(inUse()).toBe(2);
    for (const stream of streams) stream.abort();
    await closed;
    await eventually(() => inUse() === 0);
  });

  it('permit leak: a stream that is complete before it is sent, and a client that leaves before there is one', async () => {
    const slots = new WatchedLimiter(2);
    const app = await start({}, slots);
    for (let round = 0; round < 20; round++) {
      expect((await app.get('/complete')).body).toContain('data: only');
      await eventually(() => slots.held === 0);
      const leaving = app.open('/late');
      await eventually(() => gate.current.waiting === 1);
      leaving.abort();
      await app.isDeserted();
      gate.current.letOneThrough();
      await eventually(() => slots.held === 0);
    }
    expect(slots.statistics.totalFailedLeases).toBe(0);
  });
});
