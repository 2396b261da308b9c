import { RateLimitPartition } from '@ratelease/limiters';
import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import { RateLimitingModule, RateLimitingService } from '@ratelease/nestjs';
import { countSignals } from '../fixtures/count-signals.js';
import { DeafLimiter } from '../fixtures/deaf-limiter.js';
import { eventually } from '../fixtures/eventually.js';
import { listenedSignal } from './listened-signal.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const POLICIES: NonNullable<RateLimitingModuleOptions['policies']> = {
  rate: { algorithm: 'fixedWindow', permitLimit: 10, windowMs: 60_000 },
  slots: { algorithm: 'concurrency', permitLimit: 3, queueLimit: 5 },
};

// The service doesn't know the platform.
describe('RateLimitingService.acquire()', () => {
  afterEach(stopApps);

  async function start(policies = POLICIES): Promise<RateLimitingService> {
    const { app } = await startApp(PLATFORMS[0]!, { imports: [RateLimitingModule.forRoot({ policies })] });
    return app.get(RateLimitingService, { strict: false });
  }

  const queued = (service: RateLimitingService): number =>
    service.overview().reduce((sum, row) => sum + row.queued, 0);

  it('prepares a wait only where it comes to one', async () => {
    const service = await start();
    const context = service.createContext();
    const { signal } = listenedSignal();
    const made = await countSignals(async () => {
      for (const policy of ['rate', 'slots'] as const) {
        (await service.acquire(policy, context, { signal })).dispose();
        (await service.acquire(policy, context, { maxWaitMs: 5 })).dispose();
      }
      expect((await service.acquire('rate', context, { permitCount: 9 })).isAcquired).toBe(false);
    });
    expect(made).toBe(0);
    const lease = await service.acquire('slots', context, { permitCount: 3 });
    const waiting = service.acquire('slots', context, { signal });
    await eventually(() => queued(service) === 1);
    expect(signal.listeners).toBe(1);
    lease.dispose();
    expect((await waiting).isAcquired).toBe(true);
    expect([signal.listeners, queued(service)]).toEqual([0, 0]);
  });

  it('takes nothing for a signal that has aborted already, where it would be granted at once', async () => {
    const service = await start();
    const signal = AbortSignal.abort(new Error('the caller has gone'));
    for (const policy of ['rate', 'slots'] as const) {
      const asked = service.acquire(policy, service.createContext(), { signal });
      await expect(asked).rejects.toThrow('the caller has gone');
    }
    expect(service.overview()).toMatchObject([{ granted: 0 }, { granted: 0, inUse: 0, queued: 0 }]);
  });

  it('passes nobody who waits, though there would be permits enough for it', async () => {
    const service = await start();
    const context = service.createContext();
    const order: string[] = [];
    const leases = await Promise.all(
      [1, 1].map((permitCount) => service.acquire('slots', context, { permitCount })),
    );
    const wait = async (name: string, permitCount: number): Promise<void> => {
      (await service.acquire('slots', context, { permitCount })).dispose();
      order.push(name);
    };
    const ends = [wait('three', 3)];
    await eventually(() => queued(service) === 1);
    ends.push(wait('one', 1));
    await eventually(() => queued(service) === 2);
    for (const lease of leases) lease.dispose();
    await Promise.all(ends);
    expect(order).toEqual(['three', 'one']);
  });

  it('tells a limiter of the application’s the signal, whether it has to wait or not', async () => {
    const deaf = new DeafLimiter();
    const acquire = jest.spyOn(deaf.limiter, 'acquire');
    const service = await start({ own: () => RateLimitPartition.get('all', () => deaf.limiter) });
    const { signal, abort } = listenedSignal();
    (await service.acquire('own', service.createContext(), { signal, maxWaitMs: 7 })).dispose();
    const [, options] = acquire.mock.calls[0]!;
    expect(options).toMatchObject({ maxWaitMs: 7 });
    expect([options!.signal!.aborted, signal.listeners]).toEqual([false, 0]);
    abort(new Error('later'));
    expect(options!.signal!.aborted).toBe(false);
  });
});
