import type { OnModuleDestroy } from '@nestjs/common';
import { Controller, Get, Injectable } from '@nestjs/common';
import type { AsyncPartitionedRateLimiter } from '@ratelease/limiters';
import { RateLimitLease, RateLimitPartition, createPartitionedRateLimiter } from '@ratelease/limiters';
import type { RateLimitingContext, RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  ConcurrencyLimit,
  EnableRateLimiting,
  RateLimitingModule,
  RateLimitingService,
  SelectiveRateLimiterPolicy,
} from '@ratelease/nestjs';
import { EventEmitter, once } from 'node:events';
import { BrokenLimiter } from '../fixtures/broken-limiter.js';
import { CollectedMetrics } from '../fixtures/collected-metrics.js';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import type { TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };
let ran = 0;

@Controller()
class WorkController {
  @Get('limited')
  @EnableRateLimiting('limit')
  async limited(): Promise<string> {
    ran++;
    await gate.current.pass();
    return 'done';
  }

  @Get('costly')
  @ConcurrencyLimit(1, {
    when: () => true,
    message: () => {
      throw new Error('There are no words for it.');
    },
  })
  async costly(): Promise<string> {
    await gate.current.pass();
    return 'done';
  }
}

/** Ends an aborted wait by an error of its own, as Node's functions do that take a signal. */
const OWN_WORDS = new BrokenLimiter((signal) => once(new EventEmitter(), 'never', { signal }));

describe.each(PLATFORMS)('the outcome of a request on $name', (platform) => {
  let collected: CollectedMetrics;
  beforeEach(() => {
    gate.current = new Gate();
    collected = new CollectedMetrics();
    ran = 0;
  });
  afterEach(async () => {
    gate.current.open();
    await stopApps();
    await collected.end();
  });

  const start = (
    options: RateLimitingModuleOptions,
    providers: (new () => object)[] = [],
  ): Promise<TestApp> =>
    startApp(platform, {
      imports: [RateLimitingModule.forRoot(options)],
      controllers: [WorkController],
      providers,
    });
  const shown = async (line: string): Promise<void> => {
    while (!(await collected.lines()).includes(line)) await new Promise(setImmediate);
  };

  it.each(['deny', 'allow'] as const)(
    'is its end, whatever a limiter makes of the aborted wait, where failing ones %s',
    async (whenFailing) => {
      const limit = () => RateLimitPartition.get('all', () => OWN_WORDS);
      const app = await start({ policies: { limit }, whenFailing });
      const leaving = app.open('/limited');
      const staying = app.open('/limited');
      const service = app.app.get(RateLimitingService);
      const job = service.acquire('limit', service.createContext()).catch((error: unknown) => error);
      await shown('queued_requests policy=limit 3');
      leaving.abort();
      await shown('queued_requests policy=limit 2');
      const closed = app.app.close();
      expect((await staying.answer).status).toBe(503);
      expect(await job).toMatchObject({ code: 'ERR_RL_OBJECT_DISPOSED' });
      await closed;
      const lines = await collected.lines();
      expect(lines).toContain('queued_requests policy=limit 0');
      expect(lines.filter((line) => line.startsWith('requests'))).toEqual([
        'requests policy=limit result=request_canceled 3',
      ]);
      expect(ran).toBe(0);
    },
  );

  it('is 503 for who is granted in the very moment in which the application begins to end', async () => {
    const slots = new WatchedLimiter(1, 1);
    const lease = slots.limiter.attemptAcquire();
    // It hears of the end before the limiter does.
    const limiter = createPartitionedRateLimiter((context: RateLimitingContext) => {
      context.signal.addEventListener('abort', () => lease.dispose());
      return slots.policy(context) as RateLimitPartition<string>;
    });
    const app = await start({ policies: { limit: new SelectiveRateLimiterPolicy(limiter) } });
    const waiting = app.open('/limited');
    await eventually(() => slots.queued === 1);
    const closed = app.app.close();
    const { status, headers } = await waiting.answer;
    expect([status, headers.connection]).toEqual([503, 'close']);
    await closed;
    expect(slots.statistics).toMatchObject({ totalSuccessfulLeases: 2 });
    await eventually(() => slots.held === 0);
    expect(ran).toBe(0);
    expect(await collected.lines()).toContain('active_request_leases policy=limit 0');
  });

  it('is counted as canceled for who comes when the application ends', async () => {
    const hooks = new Gate();
    @Injectable()
    class Lingering implements OnModuleDestroy {
      async onModuleDestroy(): Promise<void> {
        await hooks.pass();
      }
    }
    const limit = { algorithm: 'fixedWindow', permitLimit: 9, windowMs: 60_000 } as const;
    const app = await start({ policies: { limit } }, [Lingering]);
    const closed = app.app.close();
    await eventually(() => hooks.waiting === 1);
    expect(await app.statuses('/limited', 2)).toEqual([503, 503]);
    hooks.open();
    await closed;
    expect(await collected.lines()).toEqual(['requests policy=limit result=request_canceled 2']);
  });

  it('is an error where a lease fails to say how its limiter stands, and nothing stays granted', async () => {
    let isHeld = false;
    class Mute extends RateLimitLease {
      override readonly isAcquired = true;
      override readonly metadataNames = [];
      override getMetadata(): undefined {
        return undefined;
      }
      override quota(): never {
        throw new Error('It does not know.');
      }
      override dispose(): void {
        isHeld = false;
      }
    }
    const limiter = {
      acquire: async (): Promise<RateLimitLease> => {
        isHeld = true;
        return new Mute();
      },
      getStatistics: () => null,
    } as unknown as AsyncPartitionedRateLimiter<RateLimitingContext>;
    const app = await start({ policies: { limit: new SelectiveRateLimiterPolicy(limiter) } });
    expect(await app.statuses('/limited', 1)).toEqual([500]);
    await eventually(() => !isHeld);
    expect(app.app.get(RateLimitingService).overview()).toMatchObject([{ inUse: 0, granted: 1 }, {}]);
    await shown('active_request_leases policy=limit 0');
    expect(ran).toBe(0);
  });

  it('is a refusal, too, where the words for it fail', async () => {
    const limit = { algorithm: 'concurrency', permitLimit: 1 } as const;
    const app = await start({ policies: { limit } });
    const first = app.open('/costly');
    await eventually(() => gate.current.waiting === 1);
    expect((await app.get('/costly')).status).toBe(500);
    const lines = await collected.lines();
    expect(lines).toContain('requests policy=WorkController.costly result=endpoint_limiter 1');
    gate.current.open();
    await first.answer;
  });
});
