import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { RateLimitLease } from '@ratelease/limiters';
import { RateLimitPartition, createPartitionedRateLimiter } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimitingContext, RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  EnableRateLimiting,
  RateLimitingModule,
  RateLimitingService,
  SelectiveRateLimiterPolicy,
  byClient,
  byHeader,
  byUser,
} from '@ratelease/nestjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { listenedSignal } from './listened-signal.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const gate = { current: new Gate() };
const clock = new FakeClock();
const minute = { algorithm: 'fixedWindow', windowMs: 60_000 } as const;

const OPTIONS: RateLimitingModuleOptions = {
  clock,
  global: { algorithm: 'concurrency', permitLimit: 100 },
  policies: {
    perUser: { ...minute, permitLimit: 3, key: byUser({ orElse: byClient() }) },
    perKey: { ...minute, permitLimit: 1, key: byHeader('X-Api-Key') },
    slots: { algorithm: 'concurrency', permitLimit: 2, queueLimit: 5 },
    asynchronous: async () =>
      Promise.resolve(
        RateLimitPartition.getFixedWindowLimiter('k', () => ({ permitLimit: 2, windowMs: 1_000 })),
      ),
  },
};

@Controller()
class WorkController {
  @Get('slots')
  @EnableRateLimiting('slots')
  async slots(): Promise<string> {
    await gate.current.pass();
    return 'done';
  }

  @Get('mine')
  @EnableRateLimiting('perUser')
  mine(): string {
    return 'mine';
  }
}

const row = (service: RateLimitingService, policy: string) =>
  service.overview().find((each) => each.policy === policy);

describe.each(PLATFORMS)('RateLimitingService on $name', (platform) => {
  afterEach(stopApps);
  beforeEach(() => {
    gate.current = new Gate();
  });

  async function start(options: RateLimitingModuleOptions = OPTIONS) {
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot(options)],
      controllers: [WorkController],
    });
    return { app, service: app.app.get(RateLimitingService, { strict: false }) };
  }

  it('takes from the same counters as requests do', async () => {
    const { app, service } = await start();
    const context = service.createContext({ clientIp: '::ffff:127.0.0.1' });
    expect((await service.acquire('perUser', context, { permitCount: 2 })).isAcquired).toBe(true);
    expect(await app.statuses('/mine', 2)).toEqual([200, 429]);
    const refused = await service.acquire('perUser', context);
    expect(refused.isAcquired).toBe(false);
    expect(refused.getMetadata('RETRY_AFTER')).toBe(60_000);
    const other = service.createContext({ user: { id: '127.0.0.1' } });
    expect((await service.acquire('perUser', other, { permitCount: 3 })).isAcquired).toBe(true);
    for (const key of ['a', 'b']) {
      const lease = await service.acquire('perKey', service.createContext({ headers: { 'x-api-key': key } }));
      expect(lease.isAcquired).toBe(true);
    }
  });

  it('tells the statistics of a partition, at once where its key is known at once', async () => {
    const { service } = await start();
    const context = service.createContext({ user: { id: 7 } });
    await service.acquire('perUser', context);
    expect(service.getStatistics('perUser', context)).toMatchObject({
      currentAvailablePermits: 2,
      totalSuccessfulLeases: 1,
    });
    expect(await service.getStatistics('asynchronous', context)).toMatchObject({
      currentAvailablePermits: 2,
    });
    expect(() => service.getStatistics('perUsr', context)).toThrow('Did you mean "perUser"?');
  });

  it('gives an overview from running counters', async () => {
    const { app, service } = await start();
    expect(service.overview().map(({ policy }) => policy)).toEqual([
      'global',
      'perUser',
      'perKey',
      'slots',
      'asynchronous',
    ]);
    expect(row(service, 'slots')).toEqual({
      ...{ policy: 'slots', partitions: 0, available: null },
      ...{ queued: 0, inUse: 0, granted: 0, refused: 0 },
    });
    const running = [app.open('/slots'), app.open('/slots')];
    await eventually(() => gate.current.waiting === 2);
    const waiting = app.open('/slots');
    await eventually(() => row(service, 'slots')?.queued === 1);
    expect(row(service, 'slots')).toEqual({
      ...{ policy: 'slots', partitions: 1, available: 0 },
      ...{ queued: 1, inUse: 2, granted: 2, refused: 0 },
    });
    expect(row(service, 'global')).toMatchObject({ available: 98, inUse: 2, granted: 2 });

    const lease = service.acquire('slots', service.createContext());
    await eventually(() => row(service, 'slots')?.queued === 2);
    gate.current.open();
    for (const { answer } of [...running, waiting]) expect((await answer).status).toBe(200);
    const own = await lease;
    await eventually(() => row(service, 'slots')?.inUse === 1);
    own.dispose();
    own.dispose();
    expect(row(service, 'slots')).toMatchObject({ available: 2, queued: 0, inUse: 0, granted: 4 });

    expect(await app.statuses('/mine', 4)).toEqual([200, 200, 200, 429]);
    for (const id of [1, 2, 3]) await service.acquire('perUser', service.createContext({ user: { id } }));
    expect(row(service, 'perUser')).toEqual({
      ...{ policy: 'perUser', partitions: 4, available: null },
      ...{ queued: 0, inUse: 0, granted: 6, refused: 1 },
    });
    expect(row(service, 'global')).toMatchObject({ refused: 0 });
  });

  it('resets everything, a policy, or the partition of a context', async () => {
    const { app, service } = await start();
    const exhaust = async () => {
      expect(await app.statuses('/mine', 4)).toEqual([200, 200, 200, 429]);
      const context = service.createContext({ user: { id: 7 } });
      await service.acquire('perUser', context, { permitCount: 3 });
      return context;
    };
    await exhaust();
    void service.reset();
    await exhaust();
    void service.reset('perUser');
    const context = await exhaust();
    void service.reset('perUser', context);
    expect((await service.acquire('perUser', context)).isAcquired).toBe(true);
    expect(await app.statuses('/mine', 1)).toEqual([429]);
    await service.acquire('asynchronous', context, { permitCount: 2 });
    await service.reset('asynchronous', context);
    expect((await service.acquire('asynchronous', context)).isAcquired).toBe(true);
    expect(() => service.reset('nobody')).toThrow(expect.objectContaining({ code: 'ERR_RL_UNKNOWN_POLICY' }));
  });

  it('resets while permits are held and somebody waits, and loses nobody', async () => {
    const { app, service } = await start();
    const running = [app.open('/slots'), app.open('/slots'), app.open('/slots')];
    await eventually(() => row(service, 'slots')?.queued === 1);
    void service.reset();
    // Who waits has a place among the new ones at once.
    expect(row(service, 'slots')).toMatchObject({ partitions: 1 });
    gate.current.open();
    for (const { answer } of running) expect((await answer).status).toBe(200);
    await eventually(() => row(service, 'slots')?.inUse === 0);
    expect(service.getStatistics('slots', service.createContext())).toMatchObject({
      currentAvailablePermits: 2,
    });
  });

  it('resets for those who wait, too, in their order and before whoever comes later', async () => {
    const { service } = await start();
    const context = service.createContext();
    const held = [await service.acquire('slots', context), await service.acquire('slots', context)];
    const order: string[] = [];
    const wait = async (name: string): Promise<RateLimitLease> => {
      const lease = await service.acquire('slots', context, { maxWaitMs: 60_000 });
      order.push(name);
      return lease;
    };
    const waiting = ['first', 'second', 'third'].map(wait);
    await eventually(() => row(service, 'slots')?.queued === 3);
    void service.reset('slots');
    const late = wait('late');
    const [first] = await Promise.all([waiting[0]!, waiting[1]!]);
    await eventually(() => row(service, 'slots')?.queued === 2);
    expect(order).toEqual(['first', 'second']);
    for (const lease of held) lease.dispose();
    expect(row(service, 'slots')).toMatchObject({ available: 0, queued: 2, inUse: 2 });
    first.dispose();
    (await waiting[2]!).dispose();
    (await late).dispose();
    expect(order).toEqual(['first', 'second', 'third', 'late']);
  });

  it('keeps one listener on a signal, however many wait under it, and ends them together', async () => {
    const { service } = await start();
    const context = service.createContext();
    const both = await service.acquire('slots', context, { permitCount: 2 });
    const { signal, abort } = listenedSignal();
    const ask = async (permitCount: number): Promise<RateLimitLease> =>
      service.acquire('slots', context, { signal, permitCount });
    const first = ask(1);
    // When the first of these leaves the queue, there is room for the second.
    const others = [2, 1].map(ask);
    await eventually(() => row(service, 'slots')?.queued === 3);
    expect(signal.listeners).toBe(1);
    service.updatePolicy('slots', { permitLimit: 4 });
    expect((await first).isAcquired).toBe(true);
    const ends = others.map((each) => expect(each).rejects.toThrow('the caller has gone'));
    abort(new Error('the caller has gone'));
    await Promise.all(ends);
    expect(signal.listeners).toBe(0);
    both.dispose();
    expect(row(service, 'slots')).toMatchObject({ queued: 0, inUse: 1 });
  });

  it('ends together those under a signal that were asked anew', async () => {
    const { service } = await start();
    const context = service.createContext();
    const { signal, abort } = listenedSignal();
    const ask = async (): Promise<RateLimitLease> =>
      service.acquire('slots', context, { signal, permitCount: 2 });
    const leases = [await ask()];
    const waiting = [ask(), ask(), ask()];
    const outcomes = waiting.map((each) =>
      each.then(
        (lease) => leases.push(lease),
        () => 'ended',
      ),
    );
    await eventually(() => row(service, 'slots')?.queued === 2);
    void service.reset('slots');
    await eventually(() => row(service, 'slots')?.queued === 1);
    abort(new Error('the caller has gone'));
    expect(await Promise.all(outcomes)).toEqual(expect.arrayContaining(['ended']));
    expect(signal.listeners).toBe(0);
    for (const lease of leases) lease.dispose();
    expect(row(service, 'slots')).toMatchObject({ queued: 0, inUse: 0 });
  });

  it('says where a limiter that was handed in can not be reset', async () => {
    const limiter = createPartitionedRateLimiter((_context: RateLimitingContext) =>
      RateLimitPartition.getNoLimiter('k'),
    );
    const ours = new SelectiveRateLimiterPolicy(limiter);
    const { service } = await start({ ...OPTIONS, policies: { ...OPTIONS.policies, ours } });
    void service.reset();
    expect(() => service.reset('ours')).toThrow(expect.objectContaining({ code: 'ERR_RL_NOT_RESETTABLE' }));
  });

  it('ends with the application: who waits and who comes gets ObjectDisposedError', async () => {
    const { app, service } = await start();
    const context = service.createContext();
    const held = await service.acquire('slots', context, { permitCount: 2 });
    const waiting = service.acquire('slots', context);
    await eventually(() => row(service, 'slots')?.queued === 1);
    const given = service.acquire('slots', context, { signal: AbortSignal.abort('enough') });
    await expect(given).rejects.toBe('enough');
    const outcome = waiting.catch((error: unknown) => error);
    await app.app.close();
    expect(await outcome).toMatchObject({ code: 'ERR_RL_OBJECT_DISPOSED' });
    await expect(service.acquire('slots', context)).rejects.toMatchObject({ code: 'ERR_RL_OBJECT_DISPOSED' });
    held.dispose();
  });
});

describe('RateLimitingService without a server', () => {
  it('serves other providers, also before the module is initialised', async () => {
    const granted: boolean[] = [];
    @Injectable()
    class EagerJob {
      constructor(private readonly limits: RateLimitingService) {}

      async onModuleInit(): Promise<void> {
        const lease = await this.limits.acquire('slots', this.limits.createContext());
        granted.push(lease.isAcquired);
        lease.dispose();
      }
    }
    @Module({ imports: [RateLimitingModule.forRoot(OPTIONS)], providers: [EagerJob] })
    class WorkerModule {}
    const worker = await NestFactory.createApplicationContext(WorkerModule, { logger: false });
    expect(granted).toEqual([true]);
    await worker.close();
  });
});
