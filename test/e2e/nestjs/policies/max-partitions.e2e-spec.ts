import { Controller, Get, Logger } from '@nestjs/common';
import { RateLimitPartition } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  DelegatedRateLimiterPolicy,
  EnableRateLimiting,
  RateLimitingModule,
  RateLimitingService,
  byHeader,
} from '@ratelease/nestjs';
import { bootError, PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const HOUR_MS = 3_600_000;
const hourly = {
  algorithm: 'fixedWindow',
  permitLimit: 1,
  windowMs: HOUR_MS,
  key: byHeader('x-key'),
} as const;

@Controller()
class KeyedController {
  @Get('keyed')
  @EnableRateLimiting('keyed')
  keyed(): string {
    return 'keyed';
  }
}

describe.each(PLATFORMS)('a policy with too many keys on $name', (platform) => {
  let warn: jest.SpyInstance;
  let clock: FakeClock;

  beforeEach(() => {
    warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    clock = new FakeClock();
  });

  afterEach(async () => {
    warn.mockRestore();
    await stopApps();
  });

  const start = async (options: RateLimitingModuleOptions) => {
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ clock, ...options })],
      controllers: [KeyedController],
    });
    const statusOf = async (key: string) => (await app.get('/keyed', { 'x-key': key })).status;
    const partitions = () => app.app.get(RateLimitingService).overview()[0]?.partitions;
    return { app, statusOf, partitions };
  };

  it.each<[string, RateLimitingModuleOptions]>([
    ['an options object', { policies: { keyed: { ...hourly, maxPartitions: 10 } } }],
    ['the module', { maxPartitions: 10, policies: { keyed: hourly } }],
    [
      'a policy',
      {
        policies: {
          keyed: new DelegatedRateLimiterPolicy(
            ({ request }) =>
              RateLimitPartition.getFixedWindowLimiter(
                (request as { headers: Record<string, string> }).headers['x-key'],
                () => hourly,
              ),
            undefined,
            { maxPartitions: 10 },
          ),
        },
      },
    ],
  ])('refuses new ones and forgets none that has spent, as %s says', async (_by, options) => {
    const { app, statusOf, partitions } = await start(options);
    expect([await statusOf('victim'), await statusOf('victim')]).toEqual([200, 429]);
    const flood: number[] = [];
    for (let key = 0; key < 20; key++) flood.push(await statusOf(`flood-${key}`));
    expect(flood.filter((status) => status === 200)).toHaveLength(9);
    expect(await statusOf('victim')).toBe(429);
    const innocent = await app.get('/keyed', { 'x-key': 'innocent' });
    expect(innocent).toMatchObject({ status: 429 });
    expect(innocent.headers['retry-after']).toBeUndefined();
    expect(partitions()).toBe(10);
    // One line for all of it.
    expect(warn.mock.calls).toEqual([[expect.objectContaining({ policy: 'keyed', maxPartitions: 10 })]]);
  });

  it('serves new ones again once old ones have nothing spent', async () => {
    const { statusOf } = await start({ policies: { keyed: { ...hourly, maxPartitions: 2 } } });
    expect([await statusOf('a'), await statusOf('b'), await statusOf('c')]).toEqual([200, 200, 429]);
    clock.advance(HOUR_MS + 10_001);
    expect([await statusOf('c'), await statusOf('d'), await statusOf('e')]).toEqual([200, 200, 429]);
  });

  it('has the policy’s own number, before the module’s', async () => {
    const { statusOf } = await start({
      maxPartitions: 1,
      policies: { keyed: { ...hourly, maxPartitions: 2 } },
    });
    expect([await statusOf('a'), await statusOf('b'), await statusOf('c')]).toEqual([200, 200, 429]);
  });

  it('keeps the number after a reset', async () => {
    const { app, statusOf } = await start({ policies: { keyed: { ...hourly, maxPartitions: 1 } } });
    expect([await statusOf('a'), await statusOf('b')]).toEqual([200, 429]);
    void app.app.get(RateLimitingService).reset();
    expect([await statusOf('b'), await statusOf('a')]).toEqual([200, 429]);
  });
});

describe('the boot', () => {
  it.each([0, -1, 1.5, Number.NaN, Infinity, '10', null])('stops at maxPartitions: %p', async (value) => {
    const options = { maxPartitions: value as never };
    for (const given of [options, { policies: { keyed: { ...hourly, ...options } } }]) {
      const error = await bootError(PLATFORMS[0]!, { imports: [RateLimitingModule.forRoot(given)] });
      expect(error).toMatchObject({ code: 'ERR_RL_INVALID_OPTION' });
      expect(error.message).toContain('maxPartitions must be an integer');
    }
  });
});
