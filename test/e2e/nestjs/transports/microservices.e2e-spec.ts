import { Controller, Get, Logger, Module, Scope, UseInterceptors } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { ClientProxy, CustomTransportStrategy } from '@nestjs/microservices';
import { EventPattern, MessagePattern, Server } from '@nestjs/microservices';
import { FakeClock } from '@ratelease/limiters/testing';
import { EnableRateLimiting, RateLimitingInterceptor, RateLimitingModule } from '@ratelease/nestjs';
import type { Subscription } from 'rxjs';
import { lastValueFrom } from 'rxjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { freePort } from '../../../ports/free-port.js';
import { clientOf, closeClients, optionsOf } from './tcp-service.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };
const heard: string[] = [];

class Handlers {
  @MessagePattern('sum')
  @EnableRateLimiting('window')
  sum(numbers: number[]): number {
    return numbers.reduce((a, b) => a + b, 0);
  }

  @MessagePattern('work')
  @EnableRateLimiting('slots')
  async work(): Promise<string> {
    await gate.current.pass();
    return 'done';
  }

  @EventPattern('happened')
  @EnableRateLimiting('slots', { phase: 'guard' })
  async happened(name: string): Promise<void> {
    heard.push(name);
    await gate.current.pass();
  }

  @Get('page')
  @EnableRateLimiting('window')
  page(): string {
    return 'page';
  }
}

@Controller()
class PlainController extends Handlers {}

@Controller({ scope: Scope.REQUEST })
class ScopedController extends Handlers {}

@Controller()
@UseInterceptors(RateLimitingInterceptor)
class BoundController extends Handlers {}

/** A transport that tells when a call has been given up, as gRPC does: Nest listens to the handler no longer then. */
class CancellingTransport extends Server implements CustomTransportStrategy {
  listen(begin: () => void): void {
    begin();
  }

  close(): void {
    // Nothing is open.
  }

  on(): void {
    // It has no events.
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- Nest's interface has it
  unwrap<T>(): T {
    return undefined as T;
  }

  async call(pattern: string): Promise<Subscription> {
    const handler = this.getHandlerByPattern(pattern)!;
    const answer = this.transformToObservable(await handler({}, {}));
    return answer.subscribe({ error: () => undefined });
  }
}

const limits = (slots: WatchedLimiter) =>
  RateLimitingModule.forRoot({
    clock: new FakeClock(),
    policies: {
      window: { algorithm: 'fixedWindow', permitLimit: 2, windowMs: 60_000 },
      slots: slots.policy,
    },
  });

const REFUSAL = { code: 429, message: 'Too many requests.', policy: 'window', retryAfter: 60 };

/** Replies, and what the client receives as errors. */
async function replies(client: ClientProxy, count: number): Promise<unknown[]> {
  const received: unknown[] = [];
  for (let asked = 0; asked < count; asked++) {
    received.push(await lastValueFrom(client.send('sum', [1, 2])).catch((error: unknown) => ({ error })));
  }
  return received;
}

describe('a microservice', () => {
  beforeEach(() => {
    gate.current = new Gate();
    heard.length = 0;
  });
  afterEach(async () => {
    await closeClients();
    await stopApps();
  });

  it('alone is limited, and refuses with its own exception', async () => {
    const slots = new WatchedLimiter(1, 1);
    @Module({ imports: [limits(slots)], controllers: [PlainController] })
    class RootModule {}
    const port = await freePort();
    const service = await NestFactory.createMicroservice(RootModule, { ...optionsOf(port), logger: false });
    await service.listen();
    const client = clientOf(port);
    expect(await replies(client, 3)).toEqual([3, 3, { error: REFUSAL }]);

    const first = lastValueFrom(client.send('work', {}));
    await eventually(() => gate.current.waiting === 1);
    const second = lastValueFrom(client.send('work', {}));
    await eventually(() => slots.queued === 1);
    gate.current.open();
    expect(await Promise.all([first, second])).toEqual(['done', 'done']);
    await eventually(() => slots.held === 0);
    await service.close();
  });

  it('holds the permit of an event until its handler ends, and drops what is refused', async () => {
    const slots = new WatchedLimiter(1);
    @Module({ imports: [limits(slots)], controllers: [PlainController] })
    class RootModule {}
    const port = await freePort();
    const service = await NestFactory.createMicroservice(RootModule, { ...optionsOf(port), logger: false });
    await service.listen();
    const client = clientOf(port);
    await lastValueFrom(client.emit('happened', 'one'), { defaultValue: undefined });
    await eventually(() => gate.current.waiting === 1);
    await lastValueFrom(client.emit('happened', 'two'), { defaultValue: undefined });
    await eventually(() => slots.statistics.totalFailedLeases === 1);
    expect([slots.held, heard]).toEqual([1, ['one']]);
    gate.current.open();
    await eventually(() => slots.held === 0);
    await service.close();
  });

  it('writes no faults into the log for events that are refused', async () => {
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const slots = new WatchedLimiter(1);
    const strategy = new CancellingTransport();
    @Module({ imports: [limits(slots)], controllers: [PlainController] })
    class RootModule {}
    const service = await NestFactory.createMicroservice(RootModule, { strategy, logger: false });
    await service.listen();
    await strategy.call('happened');
    await eventually(() => gate.current.waiting === 1);
    for (let count = 0; count < 3; count++)
      await strategy.handleEvent('happened', { pattern: 'happened', data: 'two' }, {} as never);
    await eventually(() => slots.statistics.totalFailedLeases === 3);
    gate.current.open();
    await eventually(() => slots.held === 0);
    expect([errors.mock.calls, heard]).toEqual([[], [{}]]);
    errors.mockRestore();
    await service.close();
  });

  const calls = 'holds the permit of a call that is given up until its handler ends, and gives up its place';
  it.each([PlainController, ScopedController])(`${calls}: of a %p`, async (controller) => {
    const slots = new WatchedLimiter(1, 1);
    const strategy = new CancellingTransport();
    @Module({ imports: [limits(slots)], controllers: [controller] })
    class RootModule {}
    const service = await NestFactory.createMicroservice(RootModule, { strategy, logger: false });
    await service.listen();
    const working = await strategy.call('work');
    await eventually(() => gate.current.waiting === 1);
    const waiting = await strategy.call('work');
    await eventually(() => slots.queued === 1);
    waiting.unsubscribe();
    working.unsubscribe();
    await eventually(() => slots.queued === 0);
    expect(slots.held).toBe(1);
    gate.current.open();
    await eventually(() => slots.held === 0);
    expect(gate.current.arrivals).toBe(1);
    await service.close();
  });

  const hybrid = async (controller: typeof PlainController, inheritAppConfig: boolean) => {
    const port = await freePort();
    const app = await startApp(
      PLATFORMS[0]!,
      { imports: [limits(new WatchedLimiter(1))], controllers: [controller] },
      async (started) => {
        started.connectMicroservice(optionsOf(port), { inheritAppConfig });
        await started.startAllMicroservices();
      },
    );
    return { app, client: clientOf(port) };
  };

  it('of a hybrid application is limited with inheritAppConfig, by the counters that HTTP has', async () => {
    const { app, client } = await hybrid(PlainController, true);
    expect(await app.statuses('/page', 1)).toEqual([200]);
    expect(await replies(client, 2)).toEqual([3, { error: REFUSAL }]);
    expect(await app.statuses('/page', 1)).toEqual([429]);
  });

  it('of a hybrid application without inheritAppConfig is limited where the interceptor is bound', async () => {
    const plain = await hybrid(PlainController, false);
    expect(await replies(plain.client, 3)).toEqual([3, 3, 3]);
    expect(await plain.app.statuses('/page', 3)).toEqual([200, 200, 429]);
    const bound = await hybrid(BoundController, false);
    expect(await replies(bound.client, 3)).toEqual([3, 3, { error: REFUSAL }]);
    expect(await bound.app.statuses('/page', 1)).toEqual([429]);
  });
});
