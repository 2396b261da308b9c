import { Controller, Get, UseInterceptors } from '@nestjs/common';
import type { WebSocketAdapter } from '@nestjs/common';
import { ConnectedSocket, MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { FakeClock } from '@ratelease/limiters/testing';
import { EnableRateLimiting, RateLimitingInterceptor, RateLimitingModule, byClient } from '@ratelease/nestjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { Replacing } from '../fixtures/replacing.js';
import type { SocketKind, TestClient } from '../fixtures/socket-clients.js';
import { NEST_MAJOR, SOCKET_KINDS, leaveAll } from '../fixtures/socket-clients.js';
import type { TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };
const connected: unknown[] = [];

// Nest 11 doesn't run app-wide interceptors on gateways; on 12 ours runs twice then, and acquires once.
@WebSocketGateway()
@UseInterceptors(RateLimitingInterceptor)
class ChatGateway {
  @EnableRateLimiting('connections')
  handleConnection(@ConnectedSocket() client: unknown): void {
    connected.push(client);
  }

  @SubscribeMessage('say')
  @EnableRateLimiting('messages')
  say(@MessageBody() text: string): { event: string; data: string } {
    return { event: 'said', data: text };
  }

  @SubscribeMessage('work')
  @EnableRateLimiting('slots', { phase: 'guard' })
  async work(): Promise<{ event: string; data: string }> {
    await gate.current.pass();
    return { event: 'worked', data: 'done' };
  }

  @SubscribeMessage('free')
  free(): { event: string; data: string } {
    return { event: 'freed', data: 'ok' };
  }
}

@Controller()
class PageController {
  @Get('page')
  @EnableRateLimiting('messages')
  page(): string {
    return 'page';
  }
}

const events = ({ received }: TestClient): string[] => received.map(({ event }) => event);

describe.each(SOCKET_KINDS)('a gateway of $name', (kind: SocketKind) => {
  afterEach(async () => {
    leaveAll();
    await stopApps();
  });

  const start = async (slots: WatchedLimiter, connections = new WatchedLimiter(100)): Promise<TestApp> => {
    gate.current = new Gate();
    connected.length = 0;
    return startApp(
      PLATFORMS[0]!,
      {
        imports: [
          RateLimitingModule.forRoot({
            clock: new FakeClock(),
            policies: {
              messages: { algorithm: 'fixedWindow', permitLimit: 2, windowMs: 60_000, key: byClient() },
              slots: slots.policy,
              connections: connections.policy,
            },
          }),
        ],
        controllers: [PageController],
        providers: [ChatGateway],
      },
      (app) => app.useWebSocketAdapter(new kind.adapter(app) as WebSocketAdapter),
    );
  };

  it('limits each message, and refuses in the words of its transport', async () => {
    const { app } = await start(new WatchedLimiter(1));
    const client = await kind.connect(app);
    for (let count = 0; count < 3; count++) client.say('say', 'hello');
    client.say('free');
    const answers = NEST_MAJOR === 11 && kind.name === 'ws' ? 3 : 4;
    await eventually(() => client.received.length === answers);
    expect(events(client).filter((event) => event === 'said')).toHaveLength(2);
    expect(events(client)).toContain('freed');
    if (answers === 3) return;
    expect(client.received.find(({ event }) => event === 'exception')?.data).toEqual({
      status: 'error',
      code: 429,
      message: 'Too many requests.',
      policy: 'messages',
      retryAfter: 60,
    });
  });

  it('counts by the client’s address, together with HTTP', async () => {
    const testApp = await start(new WatchedLimiter(1));
    const client = await kind.connect(testApp.app);
    client.say('say', 'hello');
    await eventually(() => client.received.length === 1);
    expect(await testApp.statuses('/page', 2)).toEqual([200, 429]);
  });

  it('holds the permit of a message until its handler ends', async () => {
    const slots = new WatchedLimiter(1, 1);
    const { app } = await start(slots);
    const client = await kind.connect(app);
    client.say('work');
    await eventually(() => gate.current.waiting === 1);
    client.say('work');
    await eventually(() => slots.queued === 1);
    gate.current.open();
    await eventually(() => events(client).filter((event) => event === 'worked').length === 2);
    await eventually(() => slots.held === 0);
  });

  it('gives up the place in the queue of a client that left, and never runs its handler', async () => {
    const slots = new WatchedLimiter(1, 5);
    const { app } = await start(slots);
    const lease = slots.limiter.attemptAcquire();
    const client = await kind.connect(app);
    client.say('work');
    await eventually(() => slots.queued === 1);
    client.leave();
    await eventually(() => slots.queued === 0);
    lease.dispose();
    expect([gate.current.arrivals, slots.held]).toEqual([0, 0]);
  });

  it('holds a permit for each connection until the client has left', async () => {
    const connections = new WatchedLimiter(2);
    const { app } = await start(new WatchedLimiter(1), connections);
    const first = await kind.connect(app);
    const second = await kind.connect(app);
    await eventually(() => connections.held === 2);
    const third = await kind.connect(app);
    await eventually(() => third.isClosed());
    expect(third.received).toEqual([
      {
        event: 'exception',
        data: { status: 'error', code: 429, message: 'Too many requests.', policy: 'connections' },
      },
    ]);
    expect(connected).toHaveLength(2);
    first.leave();
    await eventually(() => connections.held === 1);
    const fourth = await kind.connect(app);
    fourth.say('say', 'hello');
    await eventually(() => events(fourth).includes('said'));
    second.leave();
    fourth.leave();
    await eventually(() => connections.held === 0);
  });

  it('lets a connection wait, and forgets it when the client leaves meanwhile', async () => {
    const connections = new WatchedLimiter(1, 1);
    const { app } = await start(new WatchedLimiter(1), connections);
    const first = await kind.connect(app);
    await eventually(() => connected.length === 1);
    const waiting = await kind.connect(app);
    await eventually(() => connections.queued === 1);
    waiting.leave();
    await eventually(() => connections.queued === 0);
    const patient = await kind.connect(app);
    await eventually(() => connections.queued === 1);
    first.leave();
    await eventually(() => connected.length === 2);
    expect(connections.held).toBe(1);
    patient.leave();
    await eventually(() => connections.held === 0);
  });

  it('limits connections where a decorator further up puts another function in the place of the method', async () => {
    @WebSocketGateway()
    class ReplacedGateway {
      @Replacing()
      @EnableRateLimiting('connections')
      handleConnection(client: unknown): void {
        connected.push(client);
      }
    }
    connected.length = 0;
    const connections = new WatchedLimiter(1);
    const { app } = await startApp(
      PLATFORMS[0]!,
      {
        imports: [RateLimitingModule.forRoot({ policies: { connections: connections.policy } })],
        providers: [ReplacedGateway],
      },
      (started) => started.useWebSocketAdapter(new kind.adapter(started) as WebSocketAdapter),
    );
    await kind.connect(app);
    await eventually(() => connections.held === 1);
    const refused = await kind.connect(app);
    await eventually(() => refused.isClosed());
    expect(connected).toHaveLength(1);
  });

  it('lets every connection in where the application has no limits', async () => {
    @WebSocketGateway()
    class OpenGateway {
      @EnableRateLimiting('connections')
      handleConnection(client: unknown): void {
        connected.push(client);
      }
    }
    connected.length = 0;
    const { app } = await startApp(PLATFORMS[0]!, { providers: [OpenGateway] }, (started) =>
      started.useWebSocketAdapter(new kind.adapter(started) as WebSocketAdapter),
    );
    await kind.connect(app);
    await eventually(() => connected.length === 1);
  });

  // Nest 11 runs nothing app-wide on gateways.
  if (NEST_MAJOR > 11)
    it('is limited without a word of its own on Nest 12', async () => {
      @WebSocketGateway()
      class PlainGateway {
        @SubscribeMessage('say')
        @EnableRateLimiting('one')
        say(): { event: string; data: string } {
          return { event: 'said', data: 'one' };
        }
      }
      const policies = { one: { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000 } } as const;
      const { app } = await startApp(
        PLATFORMS[0]!,
        {
          imports: [RateLimitingModule.forRoot({ policies, clock: new FakeClock() })],
          providers: [PlainGateway],
        },
        (started) => started.useWebSocketAdapter(new kind.adapter(started) as WebSocketAdapter),
      );
      const client = await kind.connect(app);
      client.say('say');
      client.say('say');
      await eventually(() => client.received.length === 2);
      expect(events(client).sort()).toEqual(['exception', 'said']);
    });
});
