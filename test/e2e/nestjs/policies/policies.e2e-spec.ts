import { Controller, Get, Inject, Injectable, Module, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import type { AsyncRateLimiter, PartitionedRateLimiter } from '@ratelease/limiters';
import { createPartitionedRateLimiter, RateLimitPartition } from '@ratelease/limiters';
import type { IRateLimiterPolicy, RateLimitingContext } from '@ratelease/nestjs';
import {
  DelegatedRateLimiterPolicy,
  EnableRateLimiting,
  RateLimitingModule,
  SelectiveRateLimiterPolicy,
} from '@ratelease/nestjs';
import { parse } from 'node:querystring';
import { PLATFORMS, bootError, startApp, stopApps } from '../fixtures/test-app.js';
import { FREE, NamedController, PAID, Plans, PlansModule, byTenant, tenantOf, window } from './tenants.js';

/** As of libraries that are older than promises: its `then` answers with nothing. */
const thenable = <T>(value: T): Promise<T> => {
  const then = (resolve: (value: T) => void): void => void setImmediate(resolve, value);
  // oxlint-disable-next-line unicorn/no-thenable -- that is what it is
  return Object.defineProperty({}, 'then', { value: then }) as Promise<T>;
};

@Injectable()
class TenantPolicy implements IRateLimiterPolicy<string> {
  destroyed = 0;

  constructor(@Inject(Plans) private readonly plans: Plans) {}

  async getPartition(context: RateLimitingContext): Promise<RateLimitPartition<string>> {
    await Promise.resolve();
    return byTenant(context, this.plans.limitOf(tenantOf(context)));
  }

  onModuleDestroy(): void {
    this.destroyed++;
  }
}

@Controller()
class UnnamedController {
  @Get('class')
  @EnableRateLimiting(TenantPolicy)
  byClass(): string {
    return 'ok';
  }
}

describe.each(PLATFORMS)('a policy on $name', (platform) => {
  afterEach(stopApps);

  const limiter = createPartitionedRateLimiter((context: RateLimitingContext) =>
    byTenant(context, tenantOf(context) === 'paid' ? 3 : 1),
  );
  const partitioner = (context: RateLimitingContext) =>
    byTenant(context, tenantOf(context) === 'paid' ? 3 : 1);

  it.each([
    ['partitioner', partitioner],
    ['asynchronous partitioner', async (context: RateLimitingContext) => partitioner(context)],
    [
      'partitioner that answers with another thenable',
      (context: RateLimitingContext) => thenable(partitioner(context)),
    ],
    ['instance', new DelegatedRateLimiterPolicy(partitioner)],
    ['class', TenantPolicy],
  ])('works as %s', async (_form, policy) => {
    const options = { policies: { named: policy }, imports: [PlansModule] };
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot(options)],
      controllers: [NamedController],
    });
    expect(await app.statuses('/named', 2, FREE)).toEqual([200, 429]);
    expect(await app.statuses('/named', 4, PAID)).toEqual([200, 200, 200, 429]);
  });

  it.each([
    ['a whole limiter', limiter],
    ['a selective policy', new SelectiveRateLimiterPolicy(limiter)],
  ])('works as %s, which lives on when the application ends', async (_form, policy) => {
    const options = { policies: { named: policy } };
    for (const headers of [{ 'x-tenant': `${platform.name}-${_form}` }]) {
      const app = await startApp(platform, {
        imports: [RateLimitingModule.forRoot(options)],
        controllers: [NamedController],
      });
      expect(await app.statuses('/named', 2, headers)).toEqual([200, 429]);
      await stopApps();
      const context = {
        request: { headers: { 'x-tenant': `other-${platform.name}-${_form}` } },
      } as unknown as RateLimitingContext;
      expect((await limiter.acquire(context)).isAcquired).toBe(true);
    }
  });

  it('never disposes a limiter that was handed in, but what it made itself', async () => {
    const disposed: string[] = [];
    const made = (name: string): AsyncRateLimiter => {
      const inner = createPartitionedRateLimiter(() => RateLimitPartition.getNoLimiter('all'));
      return { ...limiterLike(inner), dispose: () => void disposed.push(name) };
    };
    const global = new SelectiveRateLimiterPolicy(
      createPartitionedRateLimiter((_context: RateLimitingContext) => RateLimitPartition.getNoLimiter('all')),
    );
    const app = await startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          global,
          policies: { named: () => RateLimitPartition.get('k', () => made('made')) },
        }),
      ],
      controllers: [NamedController],
    });
    expect((await app.get('/named')).status).toBe(200);
    await stopApps();
    expect(disposed).toEqual(['made']);
    expect((await global.limiter.acquire({} as RateLimitingContext)).isAcquired).toBe(true);
  });

  it('is the provider of the application, where there is one', async () => {
    const app = await startApp(platform, {
      imports: [PlansModule, RateLimitingModule.forRoot({ policies: { named: TenantPolicy } })],
      providers: [TenantPolicy],
      controllers: [NamedController],
    });
    const provider = app.app.get(TenantPolicy);
    const asked = jest.spyOn(provider, 'getPartition');
    expect(await app.statuses('/named', 2, FREE)).toEqual([200, 429]);
    expect(asked).toHaveBeenCalledTimes(2);
  });

  it('is made in the module of the endpoint that names its class', async () => {
    @Module({ imports: [PlansModule], controllers: [UnnamedController] })
    class FeatureModule {}
    const app = await startApp(platform, { imports: [FeatureModule, RateLimitingModule.forRoot()] });
    const answers = [await app.get('/class', FREE), await app.get('/class', FREE)];
    expect(answers.map(({ status }) => status)).toEqual([200, 429]);
    expect(answers[0]!.headers['ratelimit-policy']).toBe('"TenantPolicy";q=1;w=60');
  });

  it('stops the boot where its class is request-scoped or transient', async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class TransientPolicy extends DelegatedRateLimiterPolicy {
      constructor() {
        super(partitioner);
      }
    }
    @Injectable()
    class RequestPolicy extends DelegatedRateLimiterPolicy {
      constructor(@Inject(REQUEST) readonly request: unknown) {
        super(partitioner);
      }
    }
    for (const [policy, providers] of [
      [TransientPolicy, []],
      [TransientPolicy, [TransientPolicy]],
      [RequestPolicy, [RequestPolicy]],
      [RequestPolicy, []],
    ] as const) {
      const error = await bootError(platform, {
        imports: [RateLimitingModule.forRoot({ policies: { named: policy } })],
        providers: [...providers],
        controllers: [NamedController],
      });
      expect(error).toMatchObject({
        code: 'ERR_RL_SCOPED_POLICY',
        message: expect.stringContaining(policy.name),
      });
    }
  });

  it('stops the boot where its dependencies are nowhere, in words of the module that users know', async () => {
    @Injectable()
    class LostPolicy extends DelegatedRateLimiterPolicy {
      constructor(@Inject(Plans) readonly plans: Plans) {
        super(partitioner);
      }
    }
    const error = await bootError(platform, {
      imports: [RateLimitingModule.forRoot({ policies: { named: LostPolicy } })],
      controllers: [NamedController],
    });
    expect(error).toMatchObject({ code: 'ERR_RL_INVALID_POLICY' });
    expect(error.message).toContain("LostPolicy can't be made in RateLimitingModule.forRoot()");
    expect(error.message).toContain(
      'argument Plans at index [0] is available in RateLimitingModule.forRoot().',
    );
    expect(error.message).not.toMatch(/RateLimitingCoreModule|\n/);
    expect(error.cause).toBeInstanceOf(Error);
  });

  it.each<[string, () => unknown]>([
    ['a literal', () => ({ tenant: 'free' })],
    ['an array', () => ['tenant', 'free']],
    ['an object without a prototype, as a parser makes it', () => parse('tenant=free')],
    ['a date', () => new Date(0)],
    ['bytes', () => Buffer.from('free')],
  ])('takes no key that would be a new one for each request: %s', async (_kind, key) => {
    const app = await startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          policies: { named: () => RateLimitPartition.getFixedWindowLimiter(key(), window(1)) },
        }),
      ],
      controllers: [NamedController],
    });
    expect(await app.statuses('/named', 2)).toEqual([500, 500]);
  });

  it('takes an object that requests share as a key, and keeps 1 and "1" apart there', async () => {
    class Tenant {}
    const keys: unknown[] = [new Tenant(), new Tenant(), 1, '1', 1n];
    const app = await startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          policies: {
            named: ({ request }) =>
              RateLimitPartition.getFixedWindowLimiter(
                keys[Number((request as { headers: Record<string, string> }).headers['x-key'])],
                window(1),
              ),
          },
        }),
      ],
      controllers: [NamedController],
    });
    for (const key of keys.keys())
      expect(await app.statuses('/named', 2, { 'x-key': String(key) })).toEqual([200, 429]);
  });

  it('keeps equal keys of two unnamed policies apart, and shares one on two routes', async () => {
    const first = new DelegatedRateLimiterPolicy(() =>
      RateLimitPartition.getFixedWindowLimiter('same', window(2)),
    );
    const second = new DelegatedRateLimiterPolicy(() =>
      RateLimitPartition.getFixedWindowLimiter('same', window(1)),
    );
    @Controller()
    class TwoController {
      @Get('a') @EnableRateLimiting(first) a(): string {
        return 'a';
      }
      @Get('b') @EnableRateLimiting(second) b(): string {
        return 'b';
      }
      @Get('c') @EnableRateLimiting(first) c(): string {
        return 'c';
      }
    }
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot()],
      controllers: [TwoController],
    });
    expect(await app.statuses('/b', 2)).toEqual([200, 429]);
    expect((await app.get('/a')).status).toBe(200);
    expect((await app.get('/c')).status).toBe(200);
    const refused = await app.get('/a');
    expect(refused.status).toBe(429);
    expect(refused.headers.ratelimit).toBe('"DelegatedRateLimiterPolicy";r=0;t=60');
    expect((await app.get('/b')).headers.ratelimit).toMatch(/^"DelegatedRateLimiterPolicy-2";r=0;/);
  });
});

function limiterLike(inner: PartitionedRateLimiter<string>): AsyncRateLimiter {
  return {
    acquire: (permits, options) => inner.acquire('all', permits, options),
    getStatistics: () => null,
    idleDurationMs: null,
    dispose: () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
