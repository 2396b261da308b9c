import { Controller, Get } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import { RateLimitPartition } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  DisableRateLimiting,
  EnableRateLimiting,
  RateLimitingModule,
  RateLimitingService,
  byHeader,
} from '@ratelease/nestjs';
import { BrokenLimiter } from '../fixtures/broken-limiter.js';
import { CollectedMetrics } from '../fixtures/collected-metrics.js';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const gate = { current: new Gate() };
const clock = new FakeClock();

@Controller()
class WorkController {
  @Get('slow')
  @EnableRateLimiting('slots')
  async slow(): Promise<string> {
    await gate.current.pass();
    return 'done';
  }

  @Get('throws')
  @EnableRateLimiting('slots')
  throws(): string {
    throw new Error('broken');
  }

  @Get('perKey')
  @EnableRateLimiting('perKey')
  perKey(): string {
    return 'ok';
  }

  @Get('plain')
  plain(): string {
    return 'plain';
  }

  @Get('free')
  @DisableRateLimiting()
  free(): string {
    return 'free';
  }
}

const OPTIONS: RateLimitingModuleOptions = {
  clock,
  policies: {
    slots: { algorithm: 'concurrency', permitLimit: 1, queueLimit: 1 },
    perKey: { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000, key: byHeader('X-Key') },
  },
};

/** A line without its value. */
const nameOf = (line: string): string => line.slice(0, line.lastIndexOf(' '));

describe.each(PLATFORMS)('metrics on $name', (platform) => {
  let collected: CollectedMetrics;
  beforeEach(() => {
    gate.current = new Gate();
    collected = new CollectedMetrics();
  });
  afterEach(async () => {
    await stopApps();
    await collected.end();
  });

  const start = (options: RateLimitingModuleOptions = OPTIONS) =>
    startApp(platform, {
      imports: [RateLimitingModule.forRoot(options)],
      controllers: [WorkController],
    });

  it('tell of leases, waits and requests, in the five instruments', async () => {
    const app = await start();
    const first = app.open('/slow');
    await eventually(() => gate.current.waiting === 1);
    const second = app.open('/slow');
    let lines = await collected.lines();
    while (!lines.some((line) => line.startsWith('queued'))) lines = await collected.lines();
    // No outcome yet: a request is counted once, when it is over.
    expect(lines).toEqual(['active_request_leases policy=slots 1', 'queued_requests policy=slots 1']);
    expect((await app.get('/slow')).status).toBe(429);
    clock.advance(2_000);
    gate.current.open();
    await Promise.all([first.answer, second.answer]);
    while (!lines.includes('active_request_leases policy=slots 0')) lines = await collected.lines();
    expect(lines).toEqual([
      'active_request_leases policy=slots 0',
      'queued_requests policy=slots 0',
      'request.time_in_queue policy=slots result=acquired 1x2',
      'request_lease.duration policy=slots 2x2',
      'requests policy=slots result=acquired 2',
      'requests policy=slots result=endpoint_limiter 1',
    ]);
  });

  it('tell of a client that left while it waited', async () => {
    const app = await start();
    const first = app.open('/slow');
    await eventually(() => gate.current.waiting === 1);
    const leaving = app.open('/slow');
    let lines: string[] = [];
    while (!lines.includes('queued_requests policy=slots 1')) lines = await collected.lines();
    leaving.abort();
    while (!lines.includes('queued_requests policy=slots 0')) lines = await collected.lines();
    expect(lines).toContain('requests policy=slots result=request_canceled 1');
    expect(lines).toContain('request.time_in_queue policy=slots result=request_canceled 1x0');
    gate.current.open();
    await first.answer;
  });

  it('name the global limiter by its result, and count handlers that throw and nothing of the disabled', async () => {
    const app = await start({
      ...OPTIONS,
      global: { algorithm: 'fixedWindow', permitLimit: 2, windowMs: 60_000 },
    });
    expect(await app.statuses('/throws', 1)).toEqual([500]);
    expect(await app.statuses('/plain', 2)).toEqual([200, 429]);
    expect(await app.statuses('/throws', 1)).toEqual([429]);
    expect(await app.statuses('/free', 2)).toEqual([200, 200]);
    let lines = await collected.lines();
    while (lines.some((line) => /^active.* 1$/.test(line))) lines = await collected.lines();
    expect(lines.filter((line) => line.startsWith('requests'))).toEqual([
      'requests policy=slots result=acquired 1',
      'requests policy=slots result=global_limiter 1',
      'requests result=acquired 1',
      'requests result=global_limiter 1',
    ]);
    expect(lines).toContain('request_lease.duration policy=slots 1x0');
  });

  it('show no ends of what began before anybody looked', async () => {
    metrics.disable();
    const app = await start();
    const first = app.open('/slow');
    await eventually(() => gate.current.waiting === 1);
    await collected.end();
    collected = new CollectedMetrics();
    gate.current.open();
    await first.answer;
    expect((await app.get('/slow')).status).toBe(200);
    let lines = await collected.lines();
    while (!lines.includes('active_request_leases policy=slots 0')) lines = await collected.lines();
    expect(lines).toContain('requests policy=slots result=acquired 1');
  });

  it('count what code outside handlers was granted at once: it may never give a rate back', async () => {
    const { app } = await start();
    const service = app.get(RateLimitingService);
    await service.acquire('perKey', service.createContext({ headers: { 'x-key': 'a' } }));
    expect(await collected.lines()).toContain('requests policy=perKey result=acquired 1');
    const lease = await service.acquire('slots', service.createContext());
    lease.dispose();
    expect(await collected.lines()).toContain('requests policy=slots result=acquired 1');
  });

  it('leave nobody waiting whose limiter has failed outside handlers', async () => {
    const noticed = new Gate();
    const broken = () => RateLimitPartition.get('all', () => new BrokenLimiter(() => noticed.pass()));
    const { app } = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ policies: { broken } })],
    });
    const service = app.get(RateLimitingService);
    const asked = service.acquire('broken', service.createContext());
    await eventually(() => noticed.waiting === 1);
    await new Promise(setImmediate);
    expect(await collected.lines()).toEqual(['queued_requests policy=broken 1']);
    noticed.open();
    await expect(asked).rejects.toThrow('the store is broken');
    expect(await collected.lines()).toEqual(['queued_requests policy=broken 0']);
  });

  // The service doesn't know the platform.
  if (platform === PLATFORMS[0])
    it('have as many series for a hundred thousand keys as for one', async () => {
      const limit = OPTIONS.policies!.perKey!;
      const names = ['search', 'export', 'import'] as const;
      const policies = { ...OPTIONS.policies, search: limit, export: limit, import: limit };
      const { app } = await start({ clock, policies });
      const service = app.get(RateLimitingService);
      const ask = async (from: number, to: number): Promise<void> => {
        for (let key = from; key < to; key++) {
          const context = service.createContext({ headers: { 'x-key': `key-${key}` } });
          await service.acquire(names[key % 3]!, context);
          if (key % 10 === 0) await service.acquire(names[key % 3]!, context);
        }
      };
      await ask(0, 30);
      const series = (await collected.lines()).map(nameOf);
      await ask(30, 100_000);
      const lines = await collected.lines();
      expect(lines.map(nameOf)).toEqual(series);
      expect(lines).toContain('requests policy=search result=acquired 33334');
      expect(lines).toContain('requests policy=export result=endpoint_limiter 3333');
      expect(lines.join()).not.toContain('key-');
    });
});
