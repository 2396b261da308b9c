import {
  Field,
  GraphQLModule,
  Int,
  ObjectType,
  Query,
  ResolveField,
  Resolver,
  Subscription,
} from '@nestjs/graphql';
import { MercuriusDriver } from '@nestjs/mercurius';
import type { MercuriusDriverConfig } from '@nestjs/mercurius';
import { EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import { eventually } from '../fixtures/eventually.js';
import { ask, closeSubscribers, subscriber } from '../fixtures/graphql-subscriber.js';
import type { TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const handled: string[] = [];

@ObjectType()
class Tick {
  @Field(() => Int)
  count!: number;
}

@Resolver(() => Tick)
class TickResolver {
  @Query(() => Int, { nullable: true })
  @EnableRateLimiting('slots')
  work(): number {
    return handled.push('query');
  }

  @Subscription(() => Tick)
  @EnableRateLimiting('slots')
  async *ticks(): AsyncGenerator<object> {
    handled.push('subscription');
    yield { ticks: { count: 1 } };
    await new Promise(() => undefined);
  }

  @Subscription(() => Tick)
  async *freeTicks(): AsyncGenerator<object> {
    yield { freeTicks: { count: 1 } };
    await new Promise(() => undefined);
  }

  @ResolveField(() => Int)
  @EnableRateLimiting('slots')
  square({ count }: Tick): number {
    handled.push('field');
    return count ** 2;
  }
}

describe('a GraphQL operation by WebSocket, with Mercurius', () => {
  const slots = { current: new WatchedLimiter(1, 50) };

  beforeEach(() => {
    handled.length = 0;
    slots.current = new WatchedLimiter(1, 50);
  });
  afterEach(async () => {
    await closeSubscribers();
    await stopApps();
  });

  const start = (): Promise<TestApp> =>
    startApp(
      PLATFORMS.find(({ name }) => name === 'Fastify')!,
      {
        imports: [
          RateLimitingModule.forRoot({ policies: { slots: slots.current.policy } }),
          GraphQLModule.forRoot<MercuriusDriverConfig>({
            driver: MercuriusDriver,
            autoSchemaFile: true,
            subscription: { fullWsTransport: true },
            fieldResolverEnhancers: ['guards', 'interceptors'],
            cache: false, // imports its cache, which Jest doesn't let it
          }),
        ],
        providers: [TickResolver],
      },
    );

  it('gives up the place of a subscription that isn’t wanted any more, and of no other of its socket', async () => {
    const app = await start();
    const client = subscriber(app);
    const live = ask(client, 'subscription { ticks { count } }');
    await eventually(() => live.results.length === 1);
    const waiting = Array.from({ length: 12 }, () => ask(client, 'subscription { ticks { count } }'));
    await eventually(() => slots.current.queued === 12);
    for (const given of [3, 11, 0]) waiting[given]!.stop();
    await eventually(() => slots.current.queued === 9);
    expect(slots.current.held).toBe(1);
    live.stop();
    await eventually(() => waiting[1]!.results.length === 1);
    expect([slots.current.held, slots.current.queued]).toEqual([1, 8]);
    for (const { stop } of waiting) stop();
    await eventually(() => slots.current.queued === 0 && slots.current.held === 0);
    expect(handled).toEqual(['subscription', 'subscription']);
  });

  it('gives up the place of what is resolved for an event, when the subscription isn’t wanted any more', async () => {
    const app = await start();
    const client = subscriber(app);
    const lease = slots.current.limiter.attemptAcquire();
    const wanted = ask(client, 'subscription { freeTicks { square } }');
    const given = ask(client, 'subscription { freeTicks { square } }');
    await eventually(() => slots.current.queued === 2);
    given.stop();
    await eventually(() => slots.current.queued === 1);
    lease.dispose();
    await eventually(() => wanted.results.length === 1);
    expect(handled).toEqual(['field']);
    expect(wanted.results).toEqual([{ freeTicks: { square: 1 } }]);
  });

  it.each(['subscription { ticks { count } }', '{ work }'])(
    'gives up the place of an operation whose socket breaks: %s',
    async (query) => {
      const app = await start();
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
});
