import { ApolloDriver } from '@nestjs/apollo';
import type { ApolloDriverConfig } from '@nestjs/apollo';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GraphQLModule, Int, Query, Resolver, Subscription } from '@nestjs/graphql';
import { EventPattern, MessagePattern } from '@nestjs/microservices';
import { EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import { eventually } from '../fixtures/eventually.js';
import { ask, closeSubscribers, subscriber } from '../fixtures/graphql-subscriber.js';
import { freePort } from '../../../ports/free-port.js';
import { clientOf, closeClients, optionsOf } from './tcp-service.js';
import type { TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const handled: string[] = [];

@Resolver()
class WorkResolver {
  @Query(() => Int, { nullable: true })
  @EnableRateLimiting('slots')
  work(): number {
    return handled.push('query');
  }

  @Subscription(() => Int)
  @EnableRateLimiting('slots')
  async *ticks(): AsyncGenerator<object> {
    handled.push('subscription');
    yield { ticks: 1 };
    await new Promise(() => undefined);
  }
}

@Controller()
class WorkController {
  @MessagePattern('work')
  @EnableRateLimiting('slots')
  work(): number {
    return handled.push('message');
  }

  @EventPattern('happened')
  @EnableRateLimiting('slots')
  happened(_name: object): void {
    handled.push('event');
  }
}

describe('a client that leaves while it waits, elsewhere than over HTTP', () => {
  const slots = { current: new WatchedLimiter(1, 50) };

  beforeEach(() => {
    handled.length = 0;
    slots.current = new WatchedLimiter(1, 50);
  });
  afterEach(async () => {
    await closeSubscribers();
    await closeClients();
    await stopApps();
  });

  const limits = () => RateLimitingModule.forRoot({ policies: { slots: slots.current.policy } });
  const startGraphql = (): Promise<TestApp> =>
    startApp(PLATFORMS[0]!, {
      imports: [
        limits(),
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriver,
          autoSchemaFile: true,
          subscriptions: { 'graphql-ws': true },
        }),
      ],
      providers: [WorkResolver],
    });

  it('gives up the places of a GraphQL request, and its resolvers never run', async () => {
    const { limiter } = slots.current;
    const app = await startGraphql();
    const lease = limiter.attemptAcquire();
    const asked = app.open(`/graphql?query=${encodeURIComponent('{ a: work b: work }')}`, {
      'apollo-require-preflight': 'yes',
    });
    await eventually(() => slots.current.queued === 2);
    asked.abort();
    await eventually(() => slots.current.queued === 0);
    lease.dispose();
    expect([slots.current.held, handled]).toEqual([0, []]);
  });

  it.each(['subscription { ticks }', '{ work }'])(
    'gives up the place of an operation whose socket breaks: %s',
    async (query) => {
      const app = await startGraphql();
      const lease = slots.current.limiter.attemptAcquire();
      const client = subscriber(app);
      ask(client, query);
      await eventually(() => slots.current.queued === 1);
      client.terminate();
      await eventually(() => slots.current.queued === 0);
      lease.dispose();
      expect([slots.current.held, handled]).toEqual([0, []]);
    },
  );

  it('gives up the place of a subscription that isn’t wanted any more, and of no other on its socket', async () => {
    const app = await startGraphql();
    const client = subscriber(app);
    const live = ask(client, 'subscription { ticks }');
    await eventually(() => live.results.length === 1);
    const waiting: ReturnType<typeof ask>[] = [];
    for (let count = 1; count <= 12; count++) {
      waiting.push(ask(client, 'subscription { ticks }'));
      await eventually(() => slots.current.queued === count);
    }
    waiting[3]!.stop();
    await eventually(() => slots.current.queued === 11);
    waiting[11]!.stop();
    await eventually(() => slots.current.queued === 10);
    expect(slots.current.held).toBe(1);
    live.stop();
    await eventually(() => waiting[0]!.results.length === 1);
    for (const { stop } of waiting) stop();
    await eventually(() => slots.current.queued === 0 && slots.current.held === 0);
    expect(handled).toEqual(['subscription', 'subscription']);
  });

  it('leaves a stream alone while others of its socket come and go', async () => {
    slots.current = new WatchedLimiter(3, 50);
    const app = await startGraphql();
    const client = subscriber(app);
    const live = ask(client, 'subscription { ticks }');
    await eventually(() => live.results.length === 1);
    for (let count = 0; count < 5; count++) {
      const query = ask(client, '{ work }');
      await eventually(() => query.hasEnded);
    }
    expect(slots.current.held).toBe(1);
    expect(live.results).toHaveLength(1);
    live.stop();
    await eventually(() => slots.current.held === 0);
  });

  it('gives up the places of messages and events of a microservice by TCP', async () => {
    @Module({ imports: [limits()], controllers: [WorkController] })
    class RootModule {}
    const port = await freePort();
    const service = await NestFactory.createMicroservice(RootModule, { ...optionsOf(port), logger: false });
    await service.listen();
    const lease = slots.current.limiter.attemptAcquire();
    const [client, patient] = [clientOf(port), clientOf(port)];
    for (let count = 0; count < 12; count++) client.send('work', {}).subscribe({ error: () => undefined });
    client.emit('happened', {}).subscribe();
    const answer = new Promise((resolve) => patient.send('work', {}).subscribe({ next: resolve }));
    await eventually(() => slots.current.queued === 14);
    await client.close();
    await eventually(() => slots.current.queued === 1);
    lease.dispose();
    expect(await answer).toBe(1);
    await eventually(() => slots.current.held === 0);
    expect(handled).toEqual(['message']);
    await service.close();
  });
});
