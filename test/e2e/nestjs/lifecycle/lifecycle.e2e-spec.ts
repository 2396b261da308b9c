import type { OnModuleDestroy } from '@nestjs/common';
import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { createPartitionedRateLimiter } from '@ratelease/limiters';
import {
  EnableRateLimiting,
  RateLimitingModule,
  RateLimitingService,
  SelectiveRateLimiterPolicy,
} from '@ratelease/nestjs';
import type { RateLimitingContext } from '@ratelease/nestjs';
import { Agent } from 'node:http';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { exchange } from '../fixtures/http-client.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };

@Controller()
@EnableRateLimiting('slots')
class SlowController {
  @Get('slow')
  async slow(): Promise<string> {
    await gate.current.pass();
    return 'done';
  }
}

describe.each(PLATFORMS)('the end of an application on $name', (platform) => {
  beforeEach(() => {
    gate.current = new Gate();
  });
  afterEach(stopApps);

  it.each(['made by the module', 'handed in'])(
    'answers waiting requests at once and lets the others finish: %s',
    async (limiter) => {
      const slots = new WatchedLimiter(1, 10);
      const handedIn = createPartitionedRateLimiter<RateLimitingContext, string>(slots.policy as never);
      const policy = limiter === 'handed in' ? new SelectiveRateLimiterPolicy(handedIn) : slots.policy;
      const app = await startApp(platform, {
        imports: [RateLimitingModule.forRoot({ policies: { slots: policy } })],
        controllers: [SlowController],
      });
      const agent = new Agent({ keepAlive: true });
      const first = exchange(app.port, { path: '/slow', agent });
      await eventually(() => gate.current.waiting === 1);
      const waiting = [1, 2, 3].map(() => exchange(app.port, { path: '/slow', agent }));
      await eventually(() => slots.queued === 3);

      const closed = app.app.close();
      const answers = await Promise.all(waiting.map(({ answer }) => answer));
      for (const answer of answers) {
        expect(answer.status).toBe(503);
        expect(answer.headers.connection).toBe('close');
        expect(answer.headers['cache-control']).toBe('no-store');
      }
      expect(gate.current.waiting).toBe(1);
      gate.current.open();
      expect((await first.answer).body).toBe('done');
      // Node waits for connections that a client keeps open.
      agent.destroy();
      await closed;
      expect(gate.current.arrivals).toBe(1);
    },
  );

  it('ends all waits before other modules hear of it, which may wait for those who wait', async () => {
    const slots = new WatchedLimiter(1, 10);
    const heard: string[] = [];
    /** As servers do that let everybody finish, such as Apollo's. */
    @Injectable()
    class Draining implements OnModuleDestroy {
      async onModuleDestroy(): Promise<void> {
        heard.push(`${slots.queued} waiting`);
        await eventually(() => slots.queued === 0);
      }
    }
    @Module({ providers: [Draining] })
    class DrainingModule {}
    const app = await startApp(platform, {
      imports: [DrainingModule, RateLimitingModule.forRoot({ policies: { slots: slots.policy } })],
      controllers: [SlowController],
      providers: [Draining],
    });
    const lease = slots.limiter.attemptAcquire();
    const waiting = app.open('/slow');
    await eventually(() => slots.queued === 1);
    const service = app.app.get(RateLimitingService);
    const job = service.acquire('slots', service.createContext()).catch((error: unknown) => error);
    await eventually(() => slots.queued === 2);
    const closed = app.app.close();
    expect((await waiting.answer).status).toBe(503);
    expect(await job).toMatchObject({ code: 'ERR_RL_OBJECT_DISPOSED' });
    await closed;
    expect(heard).toEqual(['0 waiting', '0 waiting']);
    lease.dispose();
  });

  it('keeps no state outside the application: two in one process count for themselves', async () => {
    const options = {
      policies: { slots: { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000 } as const },
    };
    gate.current.open();
    const module = RateLimitingModule.forRoot(options);
    const first = await startApp(platform, { imports: [module], controllers: [SlowController] });
    const second = await startApp(platform, { imports: [module], controllers: [SlowController] });
    expect(await first.statuses('/slow', 2)).toEqual([200, 429]);
    expect(await second.statuses('/slow', 2)).toEqual([200, 429]);
    await first.app.close();
    expect(await second.statuses('/slow', 1)).toEqual([429]);
  });

  it('leaves no listener behind on a connection that serves many requests', async () => {
    const slots = new WatchedLimiter(1);
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ policies: { slots: slots.policy } })],
      controllers: [SlowController],
    });
    gate.current.open();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const counts: number[] = [];
    const server = app.app.getHttpServer() as {
      on(event: string, listener: (request: { socket: NodeJS.EventEmitter }) => void): void;
    };
    server.on('request', ({ socket }) => counts.push(socket.listenerCount('close')));
    for (let sent = 0; sent < 50; sent++) {
      expect((await app.send({ path: '/slow', agent })).status).toBe(200);
      await eventually(() => slots.held === 0);
    }
    expect(Math.max(...counts.slice(2))).toBe(counts[2]);
    agent.destroy();
  });
});
