import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { Controller, Get, UseInterceptors } from '@nestjs/common';
import { createPartitionedRateLimiter } from '@ratelease/limiters';
import type { RateLimitingContext } from '@ratelease/nestjs';
import {
  EnableRateLimiting,
  RateLimitingInterceptor,
  RateLimitingModule,
  SelectiveRateLimiterPolicy,
} from '@ratelease/nestjs';
import type { Observable } from 'rxjs';
import { Subject, of, retry, takeUntil, throwIfEmpty } from 'rxjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };
const timeIsOver = { current: new Subject<void>() };
const handled: string[] = [];

class TimeoutInterceptor implements NestInterceptor {
  intercept(_execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(takeUntil(timeIsOver.current), throwIfEmpty());
  }
}

class CacheInterceptor implements NestInterceptor {
  intercept(): Observable<unknown> {
    return of('cached');
  }
}

class RetryInterceptor implements NestInterceptor {
  intercept(_execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(retry(2));
  }
}

class RenewedWaitInterceptor extends RateLimitingInterceptor {
  override intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    return super.intercept(execution, next).pipe(takeUntil(timeIsOver.current), throwIfEmpty(), retry(1));
  }
}

// Ours stands inside: `bind: false` leaves its place to the application.
@Controller()
class OuterController {
  @Get('timeout')
  @EnableRateLimiting('slots')
  @UseInterceptors(TimeoutInterceptor, RateLimitingInterceptor)
  async timeout(): Promise<string> {
    handled.push('timeout');
    await gate.current.pass();
    return 'done';
  }

  @Get('timeout-after-pipes')
  @EnableRateLimiting('slots', { phase: 'handler' })
  @UseInterceptors(TimeoutInterceptor, RateLimitingInterceptor)
  async afterPipes(): Promise<string> {
    return this.timeout();
  }

  @Get('renewed')
  @EnableRateLimiting('slots')
  @UseInterceptors(RenewedWaitInterceptor)
  async renewed(): Promise<string> {
    return this.timeout();
  }

  @Get('cached')
  @EnableRateLimiting('slots')
  @UseInterceptors(CacheInterceptor, RateLimitingInterceptor)
  cached(): string {
    handled.push('cached');
    return 'fresh';
  }

  @Get('retried')
  @EnableRateLimiting('slots')
  @UseInterceptors(RetryInterceptor, RateLimitingInterceptor)
  retried(): string {
    handled.push('retried');
    if (handled.length < 3) throw new Error('not yet');
    return 'done';
  }
}

@Controller()
class RetriedController {
  @Get('retried-after-pipes')
  @EnableRateLimiting('slots', { phase: 'handler' })
  @UseInterceptors(RetryInterceptor)
  retried(): string {
    handled.push('retried');
    return 'done';
  }
}

describe.each(PLATFORMS)('outer interceptors on $name', (platform) => {
  beforeEach(() => {
    gate.current = new Gate();
    timeIsOver.current = new Subject();
    handled.length = 0;
  });
  afterEach(stopApps);

  const start = (slots: WatchedLimiter) =>
    startApp(platform, {
      imports: [RateLimitingModule.forRoot({ bind: false, policies: { slots: slots.policy } })],
      controllers: [OuterController],
    });

  it.each(['/timeout', '/timeout-after-pipes'])(
    'that give up a wait end it, and the handler never runs: %s',
    async (path) => {
      const slots = new WatchedLimiter(1, 5);
      const app = await start(slots);
      const lease = slots.limiter.attemptAcquire();
      const waiting = app.open(path);
      await eventually(() => slots.queued === 1);
      timeIsOver.current.next();
      expect((await waiting.answer).status).toBe(500);
      expect(slots.queued).toBe(0);
      lease.dispose();
      expect(slots.held).toBe(0);
      expect(handled).toEqual([]);
    },
  );

  it('that give up a wait and begin a new one are told the end of the application as well', async () => {
    const slots = new WatchedLimiter(1, 5);
    const handedIn = createPartitionedRateLimiter<RateLimitingContext, string>(slots.policy as never);
    const app = await startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          bind: false,
          policies: { slots: new SelectiveRateLimiterPolicy(handedIn) },
        }),
      ],
      controllers: [OuterController],
    });
    const lease = slots.limiter.attemptAcquire();
    const waiting = app.open('/renewed');
    await eventually(() => slots.queued === 1);
    const first = timeIsOver.current;
    timeIsOver.current = new Subject();
    first.next();
    await eventually(() => slots.queued === 1);
    const closed = app.app.close();
    expect((await waiting.answer).status).toBe(503);
    await closed;
    lease.dispose();
    expect(handled).toEqual([]);
  });

  it('that answer themselves leave permits alone', async () => {
    const slots = new WatchedLimiter(1);
    const app = await start(slots);
    expect((await app.get('/cached')).body).toBe('cached');
    expect(slots.statistics.totalSuccessfulLeases).toBe(0);
    expect(handled).toEqual([]);
  });

  it('that retry do so under one lease', async () => {
    const slots = new WatchedLimiter(1);
    const app = await start(slots);
    expect((await app.get('/retried')).body).toBe('done');
    expect(handled).toHaveLength(3);
    expect(slots.statistics.totalSuccessfulLeases).toBe(1);
    await eventually(() => slots.held === 0);
  });

  it('that retry what was refused meet the same refusal: a request is decided once', async () => {
    const slots = new WatchedLimiter(1);
    const app = await start(slots);
    const lease = slots.limiter.attemptAcquire();
    const refused = await app.get('/retried');
    expect(refused.status).toBe(429);
    expect(refused.headers['ratelimit']).toBe('"slots";r=0');
    expect(handled).toEqual([]);
    expect(slots.statistics.totalFailedLeases).toBe(1);
    lease.dispose();
  });

  it('that retry what was refused after pipes meet the same refusal: the handler never runs', async () => {
    const slots = new WatchedLimiter(1);
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ policies: { slots: slots.policy } })],
      controllers: [RetriedController],
    });
    const lease = slots.limiter.attemptAcquire();
    expect((await app.get('/retried-after-pipes')).status).toBe(429);
    expect(handled).toEqual([]);
    expect(slots.statistics.totalFailedLeases).toBe(1);
    lease.dispose();
    expect((await app.get('/retried-after-pipes')).body).toBe('done');
  });
});
