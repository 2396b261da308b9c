import type { CanActivate, MessageEvent } from '@nestjs/common';
import { Controller, Get, Module, Sse, StreamableFile, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { Readable } from 'node:stream';
import type { Observable } from 'rxjs';
import { NEVER, concat, of } from 'rxjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };

class SlowGuard implements CanActivate {
  async canActivate(): Promise<boolean> {
    await gate.current.pass();
    return true;
  }
}

const handled: string[] = [];
const MORE_THAN_A_WINDOW = 200_000;

@Controller()
@EnableRateLimiting('slots')
class WorkController {
  @Get('slow')
  async slow(): Promise<string> {
    await gate.current.pass();
    return 'done';
  }

  @Get('quick')
  quick(): string {
    return 'done';
  }

  @Get('late')
  @EnableRateLimiting('slots', { phase: 'guard' })
  @UseGuards(SlowGuard)
  late(): string {
    handled.push('late');
    return 'done';
  }

  @Get('file')
  file(): StreamableFile {
    const endless = new Readable({ read: () => void endless.push(Buffer.alloc(MORE_THAN_A_WINDOW)) });
    return new StreamableFile(endless);
  }

  @Sse('events')
  events(): Observable<MessageEvent> {
    return concat(of({ data: 'a'.repeat(MORE_THAN_A_WINDOW) }, { data: 'b' }), NEVER);
  }
}

async function create(slots: WatchedLimiter, adapter: FastifyAdapter): Promise<NestFastifyApplication> {
  gate.current = new Gate();
  @Module({
    imports: [RateLimitingModule.forRoot({ policies: { slots: slots.policy } })],
    controllers: [WorkController],
  })
  class RootModule {}
  return NestFactory.create<NestFastifyApplication>(RootModule, adapter, {
    logger: false,
    abortOnError: false,
  });
}

describe('a lease without a socket, by fastify.inject()', () => {
  it('goes back after each request', async () => {
    const slots = new WatchedLimiter(1);
    const app = await create(slots, new FastifyAdapter());
    await app.init();
    await app.getHttpAdapter().getInstance().ready();
    for (let round = 0; round < 5; round++) {
      const answer = await app.inject({ url: '/quick' });
      expect([answer.statusCode, answer.headers.ratelimit]).toEqual([200, '"slots";r=0']);
      await eventually(() => slots.held === 0);
    }
    expect(slots.statistics.totalSuccessfulLeases).toBe(5);
    await app.close();
  });
});

describe('a lease over HTTP/2', () => {
  it('is the stream’s, not the connection’s', async () => {
    const slots = new WatchedLimiter(1, 1);
    const app = await create(slots, new FastifyAdapter({ http2: true } as never));
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    const session = connect(`http://127.0.0.1:${port}`);

    const first = stream(session, '/slow');
    await eventually(() => gate.current.waiting === 1);
    const queued = stream(session, '/slow');
    await eventually(() => slots.queued === 1);
    expect(await stream(session, '/quick').status).toBe(429);
    queued.close();
    await eventually(() => slots.queued === 0);
    expect(slots.held).toBe(1);
    gate.current.open();
    expect(await first.status).toBe(200);
    await eventually(() => slots.held === 0);
    expect(gate.current.arrivals).toBe(1);
    session.destroy();
    await app.close();
  });

  const { NGHTTP2_NO_ERROR, NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR } = constants;

  it.each(
    ['/file', '/events'].flatMap((path) =>
      [NGHTTP2_NO_ERROR, NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR].map((code) => [path, code] as const),
    ),
  )(
    'ends with a stream that its client cancels while it doesn’t read it: %s, code %d',
    async (path, code) => {
      const slots = new WatchedLimiter(1);
      const app = await create(slots, new FastifyAdapter({ http2: true } as never));
      await app.listen(0, '127.0.0.1');
      const { port } = app.getHttpServer().address() as AddressInfo;
      const session = connect(`http://127.0.0.1:${port}`);
      const request = session.request({ [constants.HTTP2_HEADER_PATH]: path });
      request.on('error', () => undefined);
      request.end();
      await once(request, 'response');
      expect(slots.held).toBe(1);
      request.close(code);
      await eventually(() => slots.held === 0);
      session.destroy();
      await app.close();
    },
  );

  it('is given back where its client cancels while a later guard takes its time, and no handler runs', async () => {
    const slots = new WatchedLimiter(1);
    const app = await create(slots, new FastifyAdapter({ http2: true } as never));
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    const session = connect(`http://127.0.0.1:${port}`);
    const canceled = stream(session, '/late');
    await eventually(() => gate.current.waiting === 1);
    canceled.close();
    await eventually(() => slots.held === 0);
    gate.current.open();
    expect(await stream(session, '/late').status).toBe(200);
    expect(handled).toEqual(['late']);
    session.destroy();
    await app.close();
  });

  it('ends with the session of its client, for the streams that wait as for those that work', async () => {
    const slots = new WatchedLimiter(2, 3);
    const app = await create(slots, new FastifyAdapter({ http2: true } as never));
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    const session = connect(`http://127.0.0.1:${port}`);
    for (let count = 0; count < 5; count++) stream(session, '/slow');
    await eventually(() => slots.queued === 3);
    // Closing is not leaving: who closes a session still waits for its answers.
    session.close();
    const later = connect(`http://127.0.0.1:${port}`);
    expect(await stream(later, '/slow').status).toBe(429);
    expect([slots.held, slots.queued]).toEqual([2, 3]);
    session.destroy();
    await eventually(() => slots.queued === 0);
    gate.current.open();
    await eventually(() => slots.held === 0);
    expect(gate.current.arrivals).toBe(2);
    later.destroy();
    await app.close();
  });
});

function stream(session: ClientHttp2Session, path: string): { status: Promise<number>; close(): void } {
  const request = session.request({ [constants.HTTP2_HEADER_PATH]: path });
  request.on('error', () => undefined);
  const status = new Promise<number>((resolve) => {
    request.once('response', (headers) => resolve(Number(headers[constants.HTTP2_HEADER_STATUS])));
  });
  request.resume();
  request.end();
  return { status, close: () => request.close(constants.NGHTTP2_CANCEL) };
}
