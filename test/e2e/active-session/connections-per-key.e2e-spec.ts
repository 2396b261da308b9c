import type { ArgumentsHost, ExceptionFilter, INestApplication, WebSocketAdapter } from '@nestjs/common';
import { Catch, UseFilters, UseInterceptors } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { ConnectionsPerKeyLimiter } from '@ratelease/active-session';
import type { RateLimitingContext } from '@ratelease/nestjs';
import {
  EnableRateLimiting,
  RateLimitingInterceptor,
  RateLimitingModule,
  SelectiveRateLimiterPolicy,
  byClient,
} from '@ratelease/nestjs';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import { eventually } from '../nestjs/fixtures/eventually.js';
import { PLATFORMS, startApp, stopApps } from '../nestjs/fixtures/test-app.js';

afterEach(stopApps);

/** Sends a message and tells whether it was answered, or refused. */
interface TestClient {
  say(): Promise<'answered' | 'refused'>;
  leave(): void;
}

interface Transport {
  readonly name: string;
  readonly adapter: (app: INestApplication) => WebSocketAdapter;
  readonly connect: (port: number) => Promise<TestClient>;
}

async function connectByWs(port: number): Promise<TestClient> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  await new Promise((resolve) => socket.once('open', resolve));
  return {
    say: () =>
      new Promise((resolve) => {
        socket.once('message', (data: Buffer) =>
          resolve(data.toString().includes('said') ? 'answered' : 'refused'),
        );
        socket.send(JSON.stringify({ event: 'say', data: 'hello' }));
      }),
    leave: () => socket.close(),
  };
}

async function connectBySocketIo(port: number): Promise<TestClient> {
  const socket = io(`http://127.0.0.1:${port}`, { transports: ['websocket'], forceNew: true });
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  return {
    say: () =>
      new Promise((resolve) => {
        socket.once('said', () => resolve('answered'));
        socket.once('exception', () => resolve('refused'));
        socket.emit('say', 'hello');
      }),
    leave: () => socket.disconnect(),
  };
}

const TRANSPORTS: Transport[] = [
  { name: 'ws', adapter: (app) => new WsAdapter(app), connect: connectByWs },
  { name: 'socket.io', adapter: (app) => new IoAdapter(app), connect: connectBySocketIo },
];

/** Nest 11 tells a client of ws nothing of exceptions. */
@Catch()
class TellingFilter implements ExceptionFilter {
  catch(_error: unknown, host: ArgumentsHost): void {
    const client = host.switchToWs().getClient<WebSocket>();
    if (client.readyState === WebSocket.OPEN) client.send(JSON.stringify({ event: 'exception' }));
    else client.emit('exception');
  }
}

@WebSocketGateway()
@UseFilters(TellingFilter)
@UseInterceptors(RateLimitingInterceptor)
@EnableRateLimiting('connections')
class ChatGateway {
  @SubscribeMessage('say')
  say(): { event: string; data: string } {
    return { event: 'said', data: 'said' };
  }
}

describe.each(TRANSPORTS)('connections per key over $name', ({ adapter, connect }) => {
  async function chat(
    permitLimit: number,
    key: (context: RateLimitingContext) => unknown = () => 'everybody',
  ) {
    const limiter = new ConnectionsPerKeyLimiter({ permitLimit, key });
    const app = await startApp(
      PLATFORMS[0]!,
      {
        imports: [
          RateLimitingModule.forRoot({
            policies: { connections: new SelectiveRateLimiterPolicy(limiter) },
          }),
        ],
        providers: [ChatGateway],
      },
      (nest) => nest.useWebSocketAdapter(adapter(nest)),
    );
    const context = { type: 'ws', request: { once: () => undefined } } as unknown as RateLimitingContext;
    return { port: app.port, free: () => limiter.getStatistics(context)!.currentAvailablePermits };
  }

  it.each([
    ['what makes key functions', byClient],
    ['a new object', () => ({ id: 7 })],
    ['a new list', () => [7]],
  ])('serve nobody without a limit because of a key that equals no other: %s', async (_name, key) => {
    const { port } = await chat(1, key);
    const client = await connect(port);
    expect(await client.say()).toBe('refused');
    client.leave();
  });

  it('hold one permit for all their messages, and give it back when they disconnect', async () => {
    const { port, free } = await chat(2);
    const clients = [await connect(port), await connect(port), await connect(port)];
    expect(await clients[0]!.say()).toBe('answered');
    for (let message = 0; message < 20; message++) expect(await clients[0]!.say()).toBe('answered');
    expect(free()).toBe(1);
    expect(await clients[1]!.say()).toBe('answered');
    expect(await clients[2]!.say()).toBe('refused');
    expect(await clients[0]!.say()).toBe('answered');

    clients[0]!.leave();
    await eventually(() => free() === 1);
    expect(await clients[2]!.say()).toBe('answered');
    for (const client of clients) client.leave();
    await eventually(() => free() === 2);
  });
});
