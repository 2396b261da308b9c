import type { ServerResponse } from 'node:http';
import type { CallHandler, ExecutionContext, INestApplication, NestInterceptor } from '@nestjs/common';
import { Controller, Get, UseGuards, UseInterceptors } from '@nestjs/common';
import {
  ConcurrencyLimit,
  EnableRateLimiting,
  RateLimitingGuard,
  RateLimitingInterceptor,
  RateLimitingModule,
} from '@ratelease/nestjs';
import type { Observable } from 'rxjs';
import { Subject, retry, takeUntil, throwIfEmpty } from 'rxjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import type { TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

/** Where what a decision needs is awaited. */
const question = { current: new Gate() };
const timeIsOver = { current: new Subject<void>() };
const handled: string[] = [];

async function saysYes(): Promise<boolean> {
  await question.current.pass();
  return true;
}

class TimeoutInterceptor implements NestInterceptor {
  intercept(_execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(takeUntil(timeIsOver.current), throwIfEmpty());
  }
}

class SecondTryInterceptor extends TimeoutInterceptor {
  override intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    return super.intercept(execution, next).pipe(retry(1));
  }
}

// Ours stands inside: `bind: false` leaves its place to the application.
@Controller()
class UndecidedController {
  @Get('condition')
  @EnableRateLimiting('slots', { when: saysYes })
  @UseInterceptors(TimeoutInterceptor, RateLimitingInterceptor)
  condition(): number {
    return handled.push('condition');
  }

  @Get('permits-after-pipes')
  @EnableRateLimiting('slots', { phase: 'handler', permitCount: () => saysYes().then(Number) })
  @UseInterceptors(TimeoutInterceptor, RateLimitingInterceptor)
  permitsAfterPipes(): number {
    return handled.push('permits');
  }

  @Get('conditional-limit')
  @ConcurrencyLimit(1, { when: saysYes })
  @UseInterceptors(TimeoutInterceptor, RateLimitingInterceptor)
  conditionalLimit(): number {
    return handled.push('conditional limit');
  }

  @Get('second-try')
  @ConcurrencyLimit(1, { when: saysYes })
  @UseInterceptors(SecondTryInterceptor, RateLimitingInterceptor)
  secondTry(): number {
    return handled.push('second try');
  }

  @Get('guard')
  @EnableRateLimiting('slots', { phase: 'guard', when: saysYes })
  @UseGuards(RateLimitingGuard)
  guard(): number {
    return handled.push('guard');
  }
}

describe.each(PLATFORMS)(
  'before it is known whether there is something to wait for, on $name',
  (platform) => {
    let slots: WatchedLimiter;

    beforeEach(() => {
      slots = new WatchedLimiter(1, 5);
      question.current = new Gate();
      timeIsOver.current = new Subject();
      handled.length = 0;
    });
    afterEach(stopApps);

    const start = (prepare?: (app: INestApplication) => unknown): Promise<TestApp> => {
      const imports = [RateLimitingModule.forRoot({ bind: false, policies: { slots: slots.policy } })];
      return startApp(platform, { imports, controllers: [UndecidedController] }, prepare);
    };

    /** What was asked is answered when the permits are with another one, and these come back then. */
    async function answerLate(): Promise<void> {
      const lease = slots.limiter.attemptAcquire();
      question.current.open();
      await new Promise(setImmediate);
      expect(slots.queued).toBe(0);
      lease.dispose();
      expect([handled, slots.held]).toEqual([[], 0]);
    }

    it.each(['/condition', '/permits-after-pipes', '/conditional-limit'])(
      'who is given up leaves nobody behind in the queue, and no handler runs: %s',
      async (path) => {
        const app = await start();
        const { answer } = app.open(path);
        await eventually(() => question.current.waiting === 1);
        timeIsOver.current.next();
        expect((await answer).status).toBe(500);
        await answerLate();
      },
    );

    it('who is given up and tried again is asked anew', async () => {
      const app = await start();
      const { answer } = app.open('/second-try');
      await eventually(() => question.current.arrivals === 1);
      const first = timeIsOver.current;
      timeIsOver.current = new Subject();
      first.next();
      await eventually(() => question.current.arrivals === 2);
      question.current.open();
      expect((await answer).status).toBe(200);
      expect(handled).toEqual(['second try']);
    });

    it('who is answered by others leaves nobody behind either', async () => {
      const app = await start((application) =>
        application.use((_request: unknown, response: ServerResponse, next: () => void) => {
          timeIsOver.current.subscribe(() => response.writeHead(504).end());
          next();
        }),
      );
      const { answer } = app.open('/guard');
      await eventually(() => question.current.waiting === 1);
      timeIsOver.current.next();
      expect((await answer).status).toBe(504);
      await answerLate();
    });
  },
);
