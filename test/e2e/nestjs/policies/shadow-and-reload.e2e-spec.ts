import { Controller, Get, Logger } from '@nestjs/common';
import { RateLimitPartition } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimitingModuleOptions, RefusedEvent } from '@ratelease/nestjs';
import {
  DelegatedRateLimiterPolicy,
  EnableRateLimiting,
  RateLimitingModule,
  RateLimitingService,
  byHeader,
} from '@ratelease/nestjs';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const gate = { current: new Gate() };
const plans = { current: 2 };
const limit = (permitLimit: number) => ({ algorithm: 'fixedWindow', permitLimit, windowMs: 60_000 }) as const;

@Controller()
class ShadowController {
  @Get('trial')
  @EnableRateLimiting('trial')
  trial(): string {
    return 'trial';
  }

  @Get('both')
  @EnableRateLimiting(['trial', 'real'])
  both(): string {
    return 'both';
  }

  @Get('slow')
  @EnableRateLimiting('slots')
  async slow(): Promise<string> {
    await gate.current.pass();
    return 'done';
  }

  @Get('broken')
  @EnableRateLimiting('broken')
  broken(): string {
    return 'fine';
  }

  @Get('mine')
  @EnableRateLimiting('mine')
  mine(): string {
    return 'mine';
  }

  @Get('planned')
  @EnableRateLimiting('planned')
  planned(): string {
    return 'planned';
  }
}

const OPTIONS: RateLimitingModuleOptions = {
  policies: {
    trial: { ...limit(2), shadow: true },
    real: limit(3),
    slots: { algorithm: 'concurrency', permitLimit: 1, queueLimit: 5, shadow: true },
    broken: new DelegatedRateLimiterPolicy(
      () => {
        throw new Error('no such plan');
      },
      undefined,
      { shadow: true },
    ),
    mine: { ...limit(10), key: byHeader('x-user') },
    planned: () =>
      RateLimitPartition.getFixedWindowLimiter('k', () => ({ permitLimit: plans.current, windowMs: 60_000 })),
  },
};

describe.each(PLATFORMS)('on $name', (platform) => {
  beforeEach(() => {
    gate.current = new Gate();
    plans.current = 2;
  });
  afterEach(stopApps);
  afterEach(() => jest.restoreAllMocks());

  async function start(options: RateLimitingModuleOptions = {}) {
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ clock: new FakeClock(), ...OPTIONS, ...options })],
      controllers: [ShadowController],
    });
    const service = app.app.get(RateLimitingService, { strict: false });
    const row = (policy: string) => service.overview().find((each) => each.policy === policy);
    return { app, service, row };
  }

  it('a policy in shadow mode decides, counts and reports, and refuses nobody', async () => {
    const refused: RefusedEvent[] = [];
    const listener = (message: unknown): void => void refused.push(message as RefusedEvent);
    subscribe('ratelease:refused', listener);
    const { app, row } = await start();
    expect(await app.statuses('/trial', 5)).toEqual([200, 200, 200, 200, 200]);
    expect(row('trial')).toMatchObject({ granted: 2, refused: 3 });
    expect((await app.get('/trial')).headers).not.toHaveProperty('ratelimit');
    unsubscribe('ratelease:refused', listener);
    expect(refused).toHaveLength(4);
    expect(refused[0]).toMatchObject({ policyName: 'trial', isShadow: true, retryAfterMs: 60_000 });
  });

  it('is asked beside policies that do refuse, and charged for nothing that they refuse', async () => {
    const { app, row } = await start();
    expect(await app.statuses('/both', 5)).toEqual([200, 200, 200, 429, 429]);
    expect(row('real')).toMatchObject({ granted: 3, refused: 2 });
    expect(row('trial')).toMatchObject({ granted: 2, refused: 1 });
  });

  it('holds what it grants, and lets nobody wait', async () => {
    const { app, row } = await start();
    const first = app.open('/slow');
    await eventually(() => gate.current.waiting === 1);
    const second = app.open('/slow');
    await eventually(() => gate.current.waiting === 2);
    expect(row('slots')).toMatchObject({ inUse: 1, queued: 0, granted: 1, refused: 1 });
    gate.current.open();
    await Promise.all([first.answer, second.answer]);
    await eventually(() => row('slots')?.inUse === 0);
  });

  it('ends no request by its own failure, and says so once', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const { app } = await start();
    expect(await app.statuses('/broken', 3)).toEqual([200, 200, 200]);
    const message = 'A policy in shadow mode failed.';
    expect(warn.mock.calls).toEqual([[{ message, policy: 'broken', error: 'no such plan', count: 1 }]]);
  });

  it('works for the global limiter', async () => {
    const { app, row } = await start({ global: { ...limit(1), shadow: true }, globalPhase: 'middleware' });
    expect(await app.statuses('/nowhere', 3)).toEqual([404, 404, 404]);
    expect(row('global')).toMatchObject({ granted: 1, refused: 2 });
  });

  it('new numbers keep what is spent', async () => {
    const { app, service, row } = await start();
    const headers = { 'x-user': 'u' };
    await app.statuses('/mine', 8, headers);
    service.updatePolicy('mine', { permitLimit: 20 });
    expect((await app.get('/mine', headers)).headers.ratelimit).toBe('"mine";r=11;t=60');
    service.updatePolicy('mine', { permitLimit: 5 });
    expect((await app.get('/mine', headers)).status).toBe(429);
    expect(row('mine')?.partitions).toBe(1);
    expect((await app.get('/mine', { 'x-user': 'v' })).headers['ratelimit-policy']).toBe('"mine";q=5;w=60');
  });

  it('numbers that are undefined stay, as those left out do', async () => {
    const { app, service } = await start();
    service.updatePolicy('mine', { permitLimit: 20, windowMs: undefined });
    service.updatePolicy('mine', { permitLimit: undefined });
    expect((await app.get('/mine')).headers['ratelimit-policy']).toBe('"mine";q=20;w=60');
  });

  it('numbers of a partitioner are asked for again', async () => {
    const { app, service } = await start();
    expect(await app.statuses('/planned', 3)).toEqual([200, 200, 429]);
    plans.current = 4;
    expect(await app.statuses('/planned', 1)).toEqual([429]);
    service.refreshPolicies('planned');
    expect(await app.statuses('/planned', 3)).toEqual([200, 200, 429]);
    plans.current = 5;
    service.refreshPolicies();
    expect(await app.statuses('/planned', 2)).toEqual([200, 429]);
  });

  it.each([
    ['mine', { permitLimit: 0 }, 'ERR_RL_INVALID_OPTION'],
    ['mine', { permitLmit: 5 }, 'ERR_RL_UNKNOWN_OPTION'],
    ['mine', { queueLimit: 5 }, 'ERR_RL_INVALID_OPTION'],
    ['mine', null, 'ERR_RL_INVALID_OPTION'],
    ['mine', 5, 'ERR_RL_INVALID_OPTION'],
    ['mine', [5], 'ERR_RL_INVALID_OPTION'],
    ['planned', { permitLimit: 5 }, 'ERR_RL_INVALID_OPTION'],
    ['nobody', { permitLimit: 5 }, 'ERR_RL_UNKNOWN_POLICY'],
  ])('bad changes change nothing: %s, %j', async (policy, changes, code) => {
    const { app, service } = await start();
    expect(() => service.updatePolicy(policy, changes as never)).toThrow(expect.objectContaining({ code }));
    expect((await app.get('/mine')).headers['ratelimit-policy']).toBe('"mine";q=10;w=60');
  });
});
