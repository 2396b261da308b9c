import type { MessageEvent } from '@nestjs/common';
import { Controller, Get, Logger, Param, Sse } from '@nestjs/common';
import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import { EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Server, Socket } from 'node:net';
import { connect } from 'node:net';
import type { Observable } from 'rxjs';
import { EMPTY } from 'rxjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import type { HttpExchange } from '../fixtures/http-client.js';
import type { Platform, TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };
const started: string[] = [];
const requestName = new AsyncLocalStorage<string>();

@Controller()
class QueueController {
  @Get('work/:name')
  @EnableRateLimiting('slots')
  async work(@Param('name') name: string): Promise<string> {
    started.push(name);
    await gate.current.pass();
    return `${name}:${requestName.getStore()}`;
  }

  @Get('guarded/:name')
  @EnableRateLimiting('slots', { phase: 'guard' })
  async guarded(@Param('name') name: string): Promise<string> {
    return this.work(name);
  }

  @Get('handler/:name')
  @EnableRateLimiting('slots', { phase: 'handler' })
  async inHandler(@Param('name') name: string): Promise<string> {
    return this.work(name);
  }

  @Get('brief/:name')
  @EnableRateLimiting('slots', { maxWaitMs: 0 })
  brief(@Param('name') name: string): string {
    return name;
  }

  @Sse('events')
  @EnableRateLimiting('slots', { maxWaitMs: 1 })
  events(): Observable<MessageEvent> {
    return EMPTY;
  }

  @Sse('guarded-events')
  @EnableRateLimiting('slots', { maxWaitMs: 1, phase: 'guard' })
  guardedEvents(): Observable<MessageEvent> {
    return EMPTY;
  }
}

async function start(
  platform: Platform,
  slots: WatchedLimiter,
  options: RateLimitingModuleOptions = {},
): Promise<TestApp> {
  gate.current = new Gate();
  started.length = 0;
  return startApp(
    platform,
    {
      imports: [RateLimitingModule.forRoot({ ...options, policies: { slots: slots.policy } })],
      controllers: [QueueController],
    },
    (app) => {
      app.use((request: { url: string }, _response: unknown, next: () => void) => {
        requestName.run(request.url.split('/').at(-1) ?? '', next);
      });
    },
  );
}

describe.each(PLATFORMS)('a queue on $name', (platform) => {
  afterEach(stopApps);

  it.each(['work', 'guarded', 'handler'])(
    'serves in order, each in its own async context: %s',
    async (path) => {
      const slots = new WatchedLimiter(1, 5);
      const app = await start(platform, slots);
      const exchanges: HttpExchange[] = [];
      for (const name of ['a', 'b', 'c']) {
        exchanges.push(app.open(`/${path}/${name}`));
        await eventually(() => slots.statistics.currentQueuedCount + slots.held === exchanges.length);
      }
      expect(started).toEqual(['a']);
      gate.current.open();
      const answers = await Promise.all(exchanges.map(({ answer }) => answer));
      expect(answers.map(({ body }) => body)).toEqual(['a:a', 'b:b', 'c:c']);
      expect(started).toEqual(['a', 'b', 'c']);
      await eventually(() => slots.held === 0);
    },
  );

  it.each(['work', 'guarded', 'handler'])(
    'never runs the handler of a client that left while queued, and takes that for no fault: %s',
    async (path) => {
      const faults = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
      const slots = new WatchedLimiter(1, 10);
      const app = await start(platform, slots);
      const first = app.open(`/${path}/first`);
      await eventually(() => started.length === 1);
      const queued = ['a', 'b', 'c', 'd', 'e'].map((name) => app.open(`/${path}/${name}`));
      await eventually(() => slots.queued === 5);

      for (const left of [0, 2, 4]) queued[left]!.abort();
      await eventually(() => slots.queued === 2);
      gate.current.open();
      expect((await first.answer).status).toBe(200);
      expect((await queued[1]!.answer).status).toBe(200);
      expect((await queued[3]!.answer).status).toBe(200);
      expect([...started].sort()).toEqual(['b', 'd', 'first']);
      await eventually(() => slots.held === 0);
      expect(slots.queued).toBe(0);
      expect(faults.mock.calls).toEqual([]);
      faults.mockRestore();
    },
  );

  it.each(['work', 'guarded', 'handler'])(
    'nor that of one whose connection is destroyed in the turn in which its permit comes: %s',
    async (path) => {
      const slots = new WatchedLimiter(1, 10);
      const app = await start(platform, slots);
      const sockets: Socket[] = [];
      (app.app.getHttpServer() as Server).on('connection', (socket) => sockets.push(socket));
      const lease = slots.limiter.attemptAcquire();
      const left = app.open(`/${path}/left`);
      await eventually(() => slots.queued === 1);
      // Its event comes when all callbacks of the turn have run.
      sockets[0]!.destroy();
      lease.dispose();
      await expect(left.answer).rejects.toThrow('socket hang up');
      expect(started).toEqual([]);
      await eventually(() => slots.held === 0);
    },
  );

  it('refuses at once where the wait is limited to nothing', async () => {
    const slots = new WatchedLimiter(1, 10);
    const app = await start(platform, slots);
    const first = app.open('/work/first');
    await eventually(() => started.length === 1);
    expect((await app.get('/brief/a')).status).toBe(429);
    gate.current.open();
    await first.answer;
    await eventually(() => slots.held === 0);
    expect((await app.get('/brief/b')).status).toBe(200);
  });

  it('refuses server-sent events after a wait in their stream, which Nest has begun, in the guard phase by the status', async () => {
    const slots = new WatchedLimiter(1, 10);
    const app = await start(platform, slots);
    const lease = slots.limiter.attemptAcquire();
    const late = await app.get('/events');
    expect([late.status, late.body]).toEqual([200, expect.stringContaining('event: error')]);
    expect(late.body).toContain('Too many requests.');
    expect((await app.get('/guarded-events')).status).toBe(429);
    lease.dispose();
    expect((await app.get('/guarded-events')).status).toBe(200);
  });

  it('refuses what would wait while as many wait as the application allows', async () => {
    const slots = new WatchedLimiter(1, 10);
    const app = await start(platform, slots, { maxQueuedRequests: 2 });
    const first = app.open('/work/first');
    await eventually(() => started.length === 1);
    const queued = ['a', 'b'].map((name) => app.open(`/work/${name}`));
    await eventually(() => slots.queued === 2);
    expect((await app.get('/work/c')).status).toBe(429);
    gate.current.open();
    await Promise.all([first, ...queued].map(({ answer }) => answer));
    await eventually(() => slots.held === 0);
    expect((await app.get('/work/d')).status).toBe(200);
  });

  it('gives back the places of pipelined requests whose connection breaks', async () => {
    const slots = new WatchedLimiter(3, 20);
    const app = await start(platform, slots);
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    const socket = connect(app.port, '127.0.0.1');
    const lines = Array.from({ length: 15 }, (_, index) => `GET /work/p${index} HTTP/1.1\r\nHost: x\r\n\r\n`);
    socket.write(lines.join(''));
    await eventually(() => slots.held === 3 && slots.queued === 12);
    socket.destroy();
    await eventually(() => slots.queued === 0);
    expect(slots.held).toBe(3);
    gate.current.open();
    await eventually(() => slots.held === 0);
    expect(started).toHaveLength(3);
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  it('ends with nothing held and nothing queued after a storm of aborts', async () => {
    const slots = new WatchedLimiter(3, 200);
    const app = await start(platform, slots);
    const random = randomNumbers(7);
    const open = new Set<HttpExchange>();
    let sent = 0;
    let finished = 0;
    while (finished < 300) {
      if (sent < 300 && random() < 0.6) {
        const path = ['work', 'guarded', 'handler', 'brief'][Math.floor(random() * 4)]!;
        const request = app.open(`/${path}/r${sent++}`);
        open.add(request);
        const done = (): void => {
          finished++;
          open.delete(request);
        };
        request.answer.then(done, done);
      }
      const [oldest] = open;
      if (oldest !== undefined && random() < 0.2) oldest.abort();
      if (random() < 0.5) gate.current.letOneThrough();
      expect(slots.held).toBeLessThanOrEqual(3);
      await new Promise((resolve) => setImmediate(resolve));
    }
    gate.current.open();
    await eventually(() => slots.held === 0 && slots.queued === 0);
    expect(slots.statistics.totalFailedLeases).toBeGreaterThan(0);
  });
});

/** A generator of its own seed, so that a storm that fails can be had again. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
