import { Controller, Get, Logger, UnauthorizedException } from '@nestjs/common';
import { RateLimitPartition } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import type { FailedEvent, RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  ConcurrencyLimit,
  DelegatedRateLimiterPolicy,
  EnableRateLimiting,
  RateLimitingModule,
  RateLimitingService,
  byUser,
} from '@ratelease/nestjs';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { BrokenLimiter } from '../fixtures/broken-limiter.js';
import type { TestApp } from '../fixtures/test-app.js';
import { bootError, PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const aTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const broken = (isLate: boolean) =>
  new DelegatedRateLimiterPolicy(() =>
    RateLimitPartition.get('all', () => new BrokenLimiter(isLate ? aTurn : undefined)),
  );
const throwing = (error: Error) =>
  new DelegatedRateLimiterPolicy((): never => {
    throw error;
  });
const never = { permitLimit: 1, windowMs: 60_000, algorithm: 'fixedWindow' } as const;

const POLICIES: NonNullable<RateLimitingModuleOptions['policies']> = {
  partitioner: throwing(new TypeError('plan of undefined')),
  promise: new DelegatedRateLimiterPolicy(() => Promise.reject(new Error('no plans today'))),
  'key function': { ...never, key: () => Promise.reject(new Error('no session')) },
  'missing key': { ...never, key: byUser() },
  'no partition': new DelegatedRateLimiterPolicy(() => undefined as never),
  'broken store': broken(false),
  'broken store, late': broken(true),
  factory: () => RateLimitPartition.getFixedWindowLimiter('all', () => ({ permitLimit: -1, windowMs: 1 })),
};
const FAILURES = Object.keys(POLICIES);

@Controller()
class FailingController {
  @Get('when')
  @EnableRateLimiting('window', {
    when: () => {
      throw new Error('no such feature');
    },
  })
  when(): string {
    return 'done';
  }

  @Get('when-late')
  @EnableRateLimiting('window', { when: () => Promise.reject(new Error('no such feature')) })
  whenLate(): string {
    return 'done';
  }

  @Get('count')
  @EnableRateLimiting('window', { permitCount: () => Number.NaN })
  count(): string {
    return 'done';
  }

  @Get('arguments')
  @ConcurrencyLimit(1, {
    when: () => {
      throw new Error('no such argument');
    },
  })
  arguments(): string {
    return 'done';
  }
}

const CONDITIONS = ['when', 'when-late', 'count', 'arguments'];

function controllerOf(policies: readonly string[]): new () => unknown {
  @Controller('limited')
  class LimitedController {
    @Get()
    @EnableRateLimiting([...policies])
    answer(): string {
      return 'done';
    }
  }
  return LimitedController;
}

describe.each(PLATFORMS)('a limit that fails on $name', (platform) => {
  let warn: jest.SpyInstance;
  let events: FailedEvent[] = [];
  const listen = (message: unknown): void => void events.push(message as FailedEvent);

  beforeEach(() => {
    events = [];
    warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    subscribe('ratelease:failed', listen);
  });

  afterEach(async () => {
    unsubscribe('ratelease:failed', listen);
    warn.mockRestore();
    await stopApps();
  });

  const start = (
    policies: readonly string[],
    { policies: own, ...options }: RateLimitingModuleOptions,
  ): Promise<TestApp> => {
    const limited = policies.length === 0 ? [] : [controllerOf(policies)];
    return startApp(platform, {
      imports: [RateLimitingModule.forRoot({ policies: { ...POLICIES, window: never, ...own }, ...options })],
      controllers: [...limited, FailingController],
    });
  };

  it.each(FAILURES)('fails closed by default: %s', async (failing) => {
    const app = await start([failing], {});
    expect(await app.statuses('/limited', 3)).toEqual([500, 500, 500]);
    expect(events).toEqual([]);
  });

  it.each(FAILURES)('lets through where it is told to, and says so once: %s', async (failing) => {
    const app = await start([failing], { whenFailing: 'allow' });
    expect(await app.statuses('/limited', 3)).toEqual([200, 200, 200]);
    expect(events.map(({ policies }) => policies)).toEqual([[failing], [failing], [failing]]);
    expect(events.every(({ error, context }) => error instanceof Error && context.request)).toBe(true);
    const message = 'A limit failed, and requests were let through without it.';
    expect(warn.mock.calls).toEqual([
      [{ message, policy: failing, error: expect.any(String) as string, count: 1 }],
    ]);
  });

  it.each(FAILURES)('takes nothing from the limits beside it: %s', async (failing) => {
    const app = await start([failing, 'window'], {
      policies: { window: { ...never, whenFailing: 'deny' } },
      whenFailing: 'allow',
    });
    expect(await app.statuses('/limited', 3)).toEqual([200, 429, 429]);
    expect((await app.get('/limited')).headers['ratelimit-policy']).toBe('"window";q=1;w=60');
  });

  it.each(CONDITIONS)('is one whose condition fails, too: %s', async (path) => {
    const closed = await start([], {});
    expect(await closed.statuses(`/${path}`, 2)).toEqual([500, 500]);
    const open = await start([], { whenFailing: 'allow' });
    expect(await open.statuses(`/${path}`, 2)).toEqual([200, 200]);
    expect(events).toHaveLength(2);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('still stands under the global limiter where its condition fails', async () => {
    const app = await start([], { whenFailing: 'allow', global: never });
    expect(await app.statuses('/when', 2)).toEqual([200, 429]);
  });

  it('is the policy’s own choice, before the module’s', async () => {
    const policies = { mine: { ...never, key: byUser(), whenFailing: 'allow' } } as const;
    const open = await start(['mine'], { policies });
    expect(await open.statuses('/limited', 2)).toEqual([200, 200]);
    const closed = await start(['mine'], {
      policies: { mine: { ...policies.mine, whenFailing: 'deny' } },
      whenFailing: 'allow',
    });
    expect(await closed.statuses('/limited', 2)).toEqual([500, 500]);
  });

  it('is not one that answers: an exception of Nest goes to the client', async () => {
    const app = await start(['strangers'], {
      policies: { strangers: throwing(new UnauthorizedException()) },
      whenFailing: 'allow',
    });
    expect(await app.statuses('/limited', 2)).toEqual([401, 401]);
  });

  it('is not a refusal whose callback fails', async () => {
    const onRejected = (): never => {
      throw new Error('no words');
    };
    const app = await start(['window'], { whenFailing: 'allow', onRejected });
    expect(await app.statuses('/limited', 2)).toEqual([200, 500]);
  });

  it('is told of once per policy and ten seconds, with the number', async () => {
    const clock = new FakeClock();
    const app = await start(['partitioner', 'promise'], { whenFailing: 'allow', clock });
    await app.statuses('/limited', 5);
    expect(warn).toHaveBeenCalledTimes(2);
    clock.advance(10_000);
    await app.statuses('/limited', 1);
    expect(warn.mock.calls.slice(2)).toEqual([
      [expect.objectContaining({ policy: 'partitioner', count: 5 })],
      [expect.objectContaining({ policy: 'promise', count: 5 })],
    ]);
  });

  it('lets code outside handlers through, too, where it has no key', async () => {
    const { app } = await start([], { whenFailing: 'allow' });
    const service = app.get(RateLimitingService);
    const lease = await service.acquire('missing key', service.createContext());
    expect(lease.isAcquired).toBe(true);
    lease.dispose();
  });
});

describe('the boot', () => {
  it.each(['open', true, null])('stops at whenFailing: %p', async (whenFailing) => {
    const options = { whenFailing: whenFailing as never };
    const inPolicy = { policies: { burst: { ...never, ...options } } };
    for (const given of [options, inPolicy]) {
      const error = await bootError(PLATFORMS[0]!, { imports: [RateLimitingModule.forRoot(given)] });
      expect(error).toMatchObject({ code: 'ERR_RL_INVALID_OPTION' });
      expect(error.message).toContain("whenFailing must be 'deny' or 'allow'");
    }
  });
});
