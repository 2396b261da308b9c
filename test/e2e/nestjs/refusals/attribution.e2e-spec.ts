import { Controller, Get, Injectable } from '@nestjs/common';
import {
  ConcurrencyLimiter,
  createChainedRateLimiter,
  FixedWindowRateLimiter,
  RateLimitPartition,
} from '@ratelease/limiters';
import type { RateLimitRejectedException } from '@ratelease/nestjs';
import {
  AdditionalLimits,
  DelegatedRateLimiterPolicy,
  EnableRateLimiting,
  RateLimitingModule,
} from '@ratelease/nestjs';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const shared = (permitLimit: number) =>
  ({ algorithm: 'fixedWindow', permitLimit, windowMs: 60_000 }) as const;

@Controller()
class AskingController {
  @Get('much')
  @EnableRateLimiting(['big', 'small'], { permitCount: 10 })
  much(): string {
    return 'never';
  }

  @Get('chain')
  @EnableRateLimiting('chain')
  chain(): string {
    return 'ok';
  }
}

/** Adds a limit on everything, as packages do that build on this one. */
@Injectable()
class LimitOfAPackage {
  constructor(limits: AdditionalLimits) {
    limits.add('everywhere', shared(1));
  }
}

const answered: string[] = [];
const answering = new DelegatedRateLimiterPolicy(
  () => RateLimitPartition.getNoLimiter('all'),
  ({ policyName, reason }) => void answered.push(`${policyName}:${reason}`),
);

@Controller()
class EarlyController {
  @Get('early')
  @EnableRateLimiting(answering, { phase: 'guard' })
  early(): string {
    return 'ok';
  }
}

describe.each(PLATFORMS)('what a refusal and its fields are attributed to on $name', (platform) => {
  const rejections: RateLimitRejectedException[] = [];
  const start = () =>
    startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          global: shared(1000),
          policies: {
            big: shared(100),
            small: shared(5),
            chain: () =>
              RateLimitPartition.get('all', () =>
                createChainedRateLimiter(
                  new ConcurrencyLimiter({ permitLimit: 4 }),
                  new FixedWindowRateLimiter({ permitLimit: 9, windowMs: 60_000 }),
                ),
              ),
          },
          onRejected: (rejection) => void rejections.push(rejection),
        }),
      ],
      controllers: [AskingController],
    });
  beforeEach(() => void rejections.splice(0));
  afterEach(stopApps);

  it('is the policy whose limit a count exceeds, and the fields stand there as ever', async () => {
    const app = await start();
    const answer = await app.get('/much');
    expect(answer.status).toBe(429);
    expect(rejections[0]).toMatchObject({ policyName: 'small', reason: 'endpoint', retryAfterMs: undefined });
    expect(answer.headers['ratelimit']).toBe('"global";r=1000;t=0, "big";r=100;t=0, "small";r=5;t=0');
    expect(answer.headers['ratelimit-policy']).toBe(
      '"global";q=1000;w=60, "big";q=100;w=60, "small";q=5;w=60',
    );
    expect(answer.headers['retry-after']).toBeUndefined();
  });

  it('numbers the limiters of a policy that is a chain, beside others and alone', async () => {
    const app = await start();
    const { headers } = await app.get('/chain');
    expect(headers['ratelimit']).toBe('"global";r=999;t=60, "chain";r=3, "chain-2";r=8;t=60');
  });

  it('numbers them where the policy stands alone', async () => {
    const app = await startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          policies: {
            big: shared(100),
            small: shared(5),
            chain: () =>
              RateLimitPartition.get('all', () =>
                createChainedRateLimiter(
                  new ConcurrencyLimiter({ permitLimit: 4 }),
                  new FixedWindowRateLimiter({ permitLimit: 9, windowMs: 60_000 }),
                ),
              ),
          },
        }),
      ],
      controllers: [AskingController],
    });
    expect((await app.get('/chain')).headers['ratelimit']).toBe('"chain";r=3, "chain-2";r=8;t=60');
  });

  it('is answered by the callback of the policy, where a limit on everything refuses in a later phase', async () => {
    answered.length = 0;
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ onRejected: () => void answered.push('module') })],
      controllers: [EarlyController],
      providers: [LimitOfAPackage],
    });
    expect(await app.statuses('/early', 2)).toEqual([200, 429]);
    expect(answered).toEqual(['everywhere:global']);
  });
});
