import { Controller, Get, Logger } from '@nestjs/common';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimitingEvent, RateLimitingModuleOptions, RefusedEvent } from '@ratelease/nestjs';
import {
  DisableRateLimiting,
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
const clock = new FakeClock();

const OPTIONS: RateLimitingModuleOptions = {
  clock,
  policies: {
    slots: { algorithm: 'concurrency', permitLimit: 1, queueLimit: 1 },
    burst: { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000, key: byHeader('X-Key') },
  },
};

@Controller()
class WorkController {
  @Get('slow')
  @EnableRateLimiting('slots')
  async slow(): Promise<string> {
    await gate.current.pass();
    return 'done';
  }

  @Get('burst')
  @EnableRateLimiting('burst')
  burst(): string {
    return 'burst';
  }

  @Get('free')
  @DisableRateLimiting()
  free(): string {
    return 'free';
  }
}

const CHANNELS = ['acquired', 'refused', 'queued', 'canceled', 'released'] as const;

describe.each(PLATFORMS)('what limits show on $name', (platform) => {
  const events: [string, RateLimitingEvent][] = [];
  const listeners = CHANNELS.map(
    (name) => [`ratelease:${name}`, (message: unknown) => events.push([name, message as never])] as const,
  );
  const listen = (): void => listeners.forEach(([name, listener]) => subscribe(name, listener));
  beforeEach(() => {
    gate.current = new Gate();
    events.length = 0;
  });
  afterEach(async () => {
    for (const [name, listener] of listeners) unsubscribe(name, listener);
    jest.restoreAllMocks();
    await stopApps();
  });

  const start = (options: RateLimitingModuleOptions = OPTIONS) =>
    startApp(platform, {
      imports: [RateLimitingModule.forRoot(options)],
      controllers: [WorkController],
    });

  it('goes to diagnostics channels: the life of a request that waits', async () => {
    listen();
    const app = await start();
    const first = app.open('/slow');
    await eventually(() => gate.current.waiting === 1);
    const second = app.open('/slow');
    await eventually(() => events.length === 2);
    clock.advance(250);
    gate.current.open();
    await Promise.all([first.answer, second.answer]);
    await eventually(() => events.length === 5);
    const common = { policies: ['slots'], endpoint: 'WorkController.slow', permits: 1 };
    expect(events.map(([name]) => name)).toEqual(['acquired', 'queued', 'released', 'acquired', 'released']);
    for (const [, event] of events) {
      expect(event).toMatchObject(common);
      expect(event.context.handler?.name).toBe('slow');
    }
    expect(events[0]![1]).toMatchObject({ waitedMs: 0 });
    expect(events[2]![1]).toMatchObject({ heldMs: 250 });
    expect(events[3]![1]).toMatchObject({ waitedMs: 250 });
  });

  it('tells of a client that leaves the queue, when it is out of it, and of waits in code', async () => {
    listen();
    const app = await start();
    const service = app.app.get(RateLimitingService, { strict: false });
    const queuedThen: number[] = [];
    const note = (event: unknown): void => {
      queuedThen.push(service.explain(event as RateLimitingEvent)![0]!.queued);
    };
    subscribe('ratelease:canceled', note);
    const lease = await service.acquire('slots', service.createContext());
    const waiting = app.open('/slow');
    await eventually(() => events.length === 2);
    clock.advance(100);
    waiting.abort();
    await eventually(() => events.length === 3);
    const abort = new AbortController();
    const asked = service.acquire('slots', service.createContext(), { signal: abort.signal });
    await eventually(() => events.length === 4);
    abort.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    lease.dispose();
    unsubscribe('ratelease:canceled', note);
    expect(events.map(([name]) => name)).toEqual([
      ...['acquired', 'queued', 'canceled', 'queued', 'canceled', 'released'],
    ]);
    expect(events[2]![1]).toMatchObject({ waitedMs: 100 });
    expect(queuedThen).toEqual([0, 0]);
    const numbers = events.map(([, { acquisition }]) => acquisition);
    expect(numbers[1]).toBe(numbers[2]);
    expect(numbers[0]).toBe(numbers[5]);
    expect(new Set(numbers).size).toBe(3);
  });

  it('can be explained: whose event it is, the key, and how the policy stands', async () => {
    listen();
    const app = await start();
    const other = await start();
    expect((await app.get('/burst', { 'x-key': 'a' })).status).toBe(200);
    const service = app.app.get(RateLimitingService, { strict: false });
    const [, event] = events[0]!;
    expect(service.explain(event)).toEqual([
      {
        ...{ policy: 'burst', key: 'header="x-key"=a' },
        ...{ queued: 0, inUse: 0, holdsPermits: false, mayWait: false },
      },
    ]);
    expect(other.app.get(RateLimitingService, { strict: false }).explain(event)).toBeUndefined();
  });

  it('tells of refusals, of rates, and of nothing where nothing is limited', async () => {
    listen();
    const app = await start();
    expect(await app.statuses('/burst', 2)).toEqual([200, 429]);
    expect(await app.statuses('/free', 2)).toEqual([200, 200]);
    await eventually(() => events.length === 3);
    const [, refused] = events.find(([name]) => name === 'refused')!;
    expect(refused as RefusedEvent).toMatchObject({
      ...{ policyName: 'burst', reason: 'endpoint', retryAfterMs: 60_000, waitedMs: 0, isShadow: false },
      ...{ policies: ['burst'], endpoint: 'WorkController.burst', permits: 1 },
    });
    expect(events.map(([name]) => name).sort()).toEqual(['acquired', 'refused', 'released']);

    events.length = 0;
    const service = app.app.get(RateLimitingService, { strict: false });
    const lease = await service.acquire('slots', service.createContext());
    lease.dispose();
    expect(events.map(([name, { endpoint }]) => `${name} ${endpoint}`)).toEqual([
      'acquired RateLimitingService',
      'released RateLimitingService',
    ]);
  });

  it('logs refusals once per interval and policy with their number, and no keys', async () => {
    const debug = jest.spyOn(Logger.prototype, 'debug').mockImplementation();
    const app = await start();
    const ask = async (): Promise<void> => {
      for (const key of ['ada', 'bob']) await app.statuses('/burst', 3, { 'x-key': key });
    };
    await ask();
    clock.advance(9_999);
    await app.statuses('/burst', 2, { 'x-key': 'eve' });
    expect(debug.mock.calls).toEqual([
      [{ message: 'Requests were refused.', policy: 'burst', reason: 'endpoint', count: 1 }],
    ]);
    clock.advance(1);
    await app.statuses('/burst', 1, { 'x-key': 'eve' });
    expect(debug.mock.calls[1]).toEqual([expect.objectContaining({ count: 5 })]);
    expect(debug).toHaveBeenCalledTimes(2);
  });

  it('writes no line of a level that the application has switched off', async () => {
    const debug = jest.spyOn(Logger.prototype, 'debug').mockImplementation();
    jest.spyOn(Logger, 'isLevelEnabled').mockImplementation((level) => level !== 'debug');
    const app = await start();
    expect(await app.statuses('/burst', 2)).toEqual([200, 429]);
    expect(debug).not.toHaveBeenCalled();
  });

  it('names keys in the log only where it is told to, and only hashed', async () => {
    const debug = jest.spyOn(Logger.prototype, 'debug').mockImplementation();
    const app = await start({ ...OPTIONS, logKeys: 'hashed' });
    await app.statuses('/burst', 2, { 'x-key': 'ada' });
    clock.advance(10_000);
    await app.statuses('/burst', 1, { 'x-key': 'ada' });
    const keys = debug.mock.calls.map(([line]) => (line as { key: string }).key);
    expect(keys[0]).toMatch(/^[0-9a-f]{12}$/);
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(JSON.stringify(debug.mock.calls)).not.toContain('ada');
  });
});
