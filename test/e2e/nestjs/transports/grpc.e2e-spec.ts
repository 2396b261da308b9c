import { Metadata, status } from '@grpc/grpc-js';
import type { ServerDuplexStream, ServerReadableStream } from '@grpc/grpc-js';
import { Controller, Module } from '@nestjs/common';
import type { INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GrpcMethod, GrpcStreamCall, GrpcStreamMethod } from '@nestjs/microservices';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import { EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import { concat, defer, map, of, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import type { CallKind, GrpcExchange, Piece } from './grpc-service.js';
import { call, CALL_KINDS, closeGrpcClients, grpcClientOf, grpcOptionsOf } from './grpc-service.js';
import { freePort } from '../../../ports/free-port.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

type Limit = NonNullable<RateLimitingModuleOptions['policies']>[string];

const gate = { current: new Gate() };
const ran: string[] = [];

@Controller()
@EnableRateLimiting('limit')
class WorksController {
  @GrpcMethod('Works', 'One')
  async one(piece: Piece): Promise<Piece> {
    ran.push('one');
    await gate.current.pass();
    return piece;
  }

  @GrpcMethod('Works', 'Many')
  many(piece: Piece): Observable<Piece> {
    ran.push('many');
    const later = defer(() => gate.current.pass()).pipe(map(() => piece));
    return concat(of(piece), later);
  }

  @GrpcStreamMethod('Works', 'Collect')
  collect(pieces: Observable<Piece>): Observable<Piece> {
    ran.push('collect');
    return pieces.pipe(
      map(({ name }) => name),
      toArray(),
      map((names) => ({ name: names.join() })),
    );
  }

  @GrpcStreamMethod('Works', 'Exchange')
  exchange(pieces: Observable<Piece>): Observable<Piece> {
    ran.push('exchange');
    return pieces;
  }

  @GrpcStreamCall('Works', 'Raw')
  async raw(stream: ServerDuplexStream<Piece, Piece>): Promise<void> {
    ran.push('raw');
    stream.on('data', (piece: Piece) => stream.write(piece));
    await new Promise<void>((resolve) => {
      stream.once('end', resolve);
      stream.once('cancelled', resolve);
    });
    stream.end();
  }

  @GrpcStreamCall('Works', 'RawCollect')
  async rawCollect(
    stream: ServerReadableStream<Piece, Piece>,
    answer: (error: null, piece: Piece) => void,
  ): Promise<void> {
    ran.push('rawCollect');
    stream.resume();
    await new Promise<void>((resolve) => {
      stream.once('end', resolve);
      stream.once('cancelled', resolve);
    });
    answer(null, { name: 'all' });
  }
}

describe('a call of gRPC', () => {
  const services = new Set<INestMicroservice>();

  beforeEach(() => {
    gate.current = new Gate();
    ran.length = 0;
  });
  afterEach(async () => {
    closeGrpcClients();
    for (const service of services) await service.close();
    services.clear();
    await stopApps();
  });

  const limits = (limit: Limit) =>
    RateLimitingModule.forRoot({ clock: new FakeClock(), policies: { limit } });

  const askerOf = (port: number) => {
    const client = grpcClientOf(port);
    return (kind: CallKind, fields: Record<string, string> = {}): GrpcExchange => {
      const metadata = new Metadata();
      for (const [name, value] of Object.entries(fields)) metadata.set(name, value);
      return call(client, kind, metadata);
    };
  };

  async function start(limit: Limit): Promise<ReturnType<typeof askerOf>> {
    @Module({ imports: [limits(limit)], controllers: [WorksController] })
    class RootModule {}
    const port = await freePort();
    const service = await NestFactory.createMicroservice(RootModule, {
      ...grpcOptionsOf(port),
      logger: false,
    });
    services.add(service);
    await service.listen();
    return askerOf(port);
  }

  it.each(CALL_KINDS)(
    'is refused with a code that its clients know, and told when to come back: %s',
    async (kind) => {
      const ask = await start({ algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000 });
      const first = ask(kind);
      await eventually(() => ran.length === 1);
      const second = ask(kind);
      await eventually(() => second.failure() !== undefined);
      const { code, details, metadata } = second.failure()!;
      expect([code, details, metadata.get('retry-after')]).toEqual([
        status.RESOURCE_EXHAUSTED,
        'Too many requests.',
        ['60'],
      ]);
      gate.current.open();
      first.end();
      await eventually(() => first.received.length > 0);
      expect([ran, first.failure()]).toEqual([[kind], undefined]);
    },
  );

  it.each(CALL_KINDS)(
    'gives up its place where it is cancelled while it waits, and never runs: %s',
    async (kind) => {
      const slots = new WatchedLimiter(1, 5);
      const ask = await start(slots.policy);
      const lease = slots.limiter.attemptAcquire();
      const waiting = ask(kind);
      await eventually(() => slots.queued === 1);
      waiting.cancel();
      await eventually(() => slots.queued === 0);
      lease.dispose();
      expect([slots.held, ran]).toEqual([0, []]);
    },
  );

  it.each(CALL_KINDS)('holds its permit until its work has ended: %s', async (kind) => {
    const slots = new WatchedLimiter(1);
    const ask = await start(slots.policy);
    const asked = ask(kind);
    await eventually(() => ran.length === 1);
    expect(slots.held).toBe(1);
    gate.current.open();
    asked.end();
    await eventually(() => slots.held === 0);
    await eventually(() => asked.received.length > 0);
  });

  it.each(CALL_KINDS)(
    'ends with its stream where it is cancelled, and with its promise: %s',
    async (kind) => {
      const slots = new WatchedLimiter(1);
      const ask = await start(slots.policy);
      const asked = ask(kind);
      await eventually(() => ran.length === 1);
      asked.cancel();
      await eventually(() => asked.failure() !== undefined);
      if (kind === 'one') {
        await eventually(() => gate.current.waiting === 1);
        expect(slots.held).toBe(1);
        gate.current.open();
      }
      await eventually(() => slots.held === 0);
    },
  );

  // A microservice alone stops listening, and ends all calls, before it tells anybody of its end.
  it.each(CALL_KINDS)('that waits is told when its hybrid application ends: %s', async (kind) => {
    const slots = new WatchedLimiter(1, 5);
    const port = await freePort();
    const { app } = await startApp(
      PLATFORMS[0]!,
      { imports: [limits(slots.policy)], controllers: [WorksController] },
      async (started) => {
        started.connectMicroservice(grpcOptionsOf(port), { inheritAppConfig: true });
        await started.startAllMicroservices();
      },
    );
    const lease = slots.limiter.attemptAcquire();
    const waiting = askerOf(port)(kind);
    await eventually(() => slots.queued === 1);
    const closed = app.close();
    await eventually(() => waiting.failure() !== undefined);
    const { code, details } = waiting.failure()!;
    expect([code, details]).toEqual([status.UNAVAILABLE, 'The server is shutting down.']);
    lease.dispose();
    await closed;
    expect([slots.queued, ran]).toEqual([0, []]);
  });

  it.each(CALL_KINDS)('may be counted by its metadata, and fails where that has no key: %s', async (kind) => {
    const ask = await start({
      algorithm: 'fixedWindow',
      permitLimit: 1,
      windowMs: 60_000,
      key: ({ request }) => (request as Metadata).get('x-tenant')[0] as string,
    });
    const calls = ['ann', 'bob', 'ann'].map((tenant) => ask(kind, { 'x-tenant': tenant }));
    const nobody = ask(kind);
    await eventually(() => [...calls, nobody].filter(({ failure }) => failure() !== undefined).length === 2);
    expect(nobody.failure()!.details).toBe('Internal server error');
    expect(ran).toEqual([kind, kind]);
    gate.current.open();
    for (const asked of calls) asked.end();
  });
});
