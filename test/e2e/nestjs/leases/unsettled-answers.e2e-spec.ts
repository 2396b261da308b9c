import type { ServerResponse } from 'node:http';
import { Controller, Get } from '@nestjs/common';
import { ObjectDisposedError, RateLimitPartition } from '@ratelease/limiters';
import type { OnRejected, RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  ConcurrencyLimit,
  EnableRateLimiting,
  RateLimitingModule,
  RateLimitingService,
} from '@ratelease/nestjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import type { Platform, TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

/** How often somebody was asked who never answers. */
let asked = 0;
const ran: string[] = [];

function never(): Promise<never> {
  asked++;
  return new Promise(() => undefined);
}

@Controller()
class WorkController {
  @Get('when-guard')
  @EnableRateLimiting('slots', { phase: 'guard', when: never })
  whenGuard(): number {
    return ran.push('when-guard');
  }

  @Get('when-interceptor')
  @EnableRateLimiting('slots', { when: never })
  whenInterceptor(): number {
    return ran.push('when-interceptor');
  }

  @Get('when-handler')
  @EnableRateLimiting('slots', { phase: 'handler', when: never })
  whenHandler(): number {
    return ran.push('when-handler');
  }

  @Get('condition')
  @ConcurrencyLimit(1, { when: never })
  condition(): number {
    return ran.push('condition');
  }

  @Get('permits')
  @EnableRateLimiting('slots', { permitCount: never })
  permits(): number {
    return ran.push('permits');
  }

  @Get('partition-guard')
  @EnableRateLimiting('unsettled', { phase: 'guard' })
  partitionGuard(): number {
    return ran.push('partition-guard');
  }

  @Get('partition')
  @EnableRateLimiting(['slots', 'unsettled'])
  partition(): number {
    return ran.push('partition');
  }

  @Get('shadow')
  @EnableRateLimiting(['slots', 'shadow'])
  shadow(): number {
    return ran.push('shadow');
  }

  @Get('say')
  @EnableRateLimiting('say', { permitCount: 2 })
  say(): number {
    return ran.push('say');
  }

  @Get('say-after-pipes')
  @EnableRateLimiting('say', { phase: 'handler', permitCount: 2 })
  sayAfterPipes(): number {
    return ran.push('say-after-pipes');
  }

  @Get('too-many')
  @EnableRateLimiting('slots', { permitCount: 6 })
  tooMany(): number {
    return ran.push('too-many');
  }
}

const PATHS = [
  ...['when-guard', 'when-interceptor', 'when-handler', 'condition', 'permits'],
  ...['partition-guard', 'partition', 'shadow', 'say', 'say-after-pipes'],
];

const OPTIONS: RateLimitingModuleOptions = {
  policies: {
    slots: { algorithm: 'concurrency', permitLimit: 5 },
    unsettled: never,
    shadow: { getPartition: never, shadow: true },
    say: {
      getPartition: () => RateLimitPartition.getConcurrencyLimiter('all', () => ({ permitLimit: 1 })),
      onRejected: never,
    },
  },
};

async function start(platform: Platform, options: RateLimitingModuleOptions = OPTIONS): Promise<TestApp> {
  asked = 0;
  ran.length = 0;
  return startApp(platform, {
    imports: [RateLimitingModule.forRoot(options)],
    controllers: [WorkController],
  });
}

describe.each(PLATFORMS)('an answer of the application’s code that never comes, on $name', (platform) => {
  afterEach(stopApps);

  it.each(PATHS)('keeps no request waiting when the application ends: %s', async (path) => {
    const started = await start(platform);
    const { answer } = started.open(`/${path}`);
    await eventually(() => asked === 1);
    await started.app.close();
    const { status, headers } = await answer;
    expect([status, headers.connection]).toEqual([503, 'close']);
    expect(ran).toEqual([]);
  });

  it.each(PATHS)('keeps nothing that a client held which has left: %s', async (path) => {
    const slots = new WatchedLimiter(1);
    const app = await start(platform, { ...OPTIONS, global: slots.policy, globalPhase: 'guard' });
    const leaving = app.open(`/${path}`);
    await eventually(() => asked === 1);
    leaving.abort();
    await app.isDeserted();
    await eventually(() => slots.held === 0);
    expect(ran).toEqual([]);
  });

  it('cuts nothing off that a say on a refusal has begun to send', async () => {
    const gate = new Gate();
    const onRejected: OnRejected = async (_rejection, { response }) => {
      const raw = ((response as { raw?: ServerResponse }).raw ?? response) as ServerResponse;
      raw.writeHead(429).write('begun, ');
      await gate.pass();
      raw.end('ended');
    };
    const started = await start(platform, { ...OPTIONS, onRejected });
    const { answer } = started.open('/too-many');
    await eventually(() => gate.arrivals === 1);
    const closed = started.app.close();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    gate.open();
    await closed;
    expect(await answer).toMatchObject({ status: 429, body: 'begun, ended' });
  });

  it('keeps no code outside handlers waiting either', async () => {
    const { app } = await start(platform);
    const service = app.get(RateLimitingService, { strict: false });
    const controller = new AbortController();
    const given = service.acquire('unsettled', service.createContext(), { signal: controller.signal });
    const patient = service.acquire('unsettled', service.createContext()).catch((error: unknown) => error);
    await eventually(() => asked === 2);
    controller.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    await app.close();
    expect(await patient).toBeInstanceOf(ObjectDisposedError);
  });
});
