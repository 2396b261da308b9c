import { ApolloDriver } from '@nestjs/apollo';
import type { ApolloDriverConfig } from '@nestjs/apollo';
import type { Provider } from '@nestjs/common';
import { Args, GraphQLModule, Int, Query, Resolver, Subscription } from '@nestjs/graphql';
import { FakeClock } from '@ratelease/limiters/testing';
import { ConcurrencyLimit, EnableRateLimiting, RateLimitingModule, byClient } from '@ratelease/nestjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { ask, closeSubscribers, subscriber } from '../fixtures/graphql-subscriber.js';
import type { TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };

async function* numbers(end: 'ends' | 'fails' | 'stays'): AsyncGenerator<object> {
  yield { ticks: 1 };
  if (end === 'fails') throw new Error('The stream has failed.');
  if (end === 'stays') await gate.current.pass();
}

@Resolver()
class WorkResolver {
  @Query(() => Int, { nullable: true })
  @EnableRateLimiting('budget', { phase: 'handler' })
  paid(): number {
    return 1;
  }

  @Query(() => Int, { nullable: true })
  @ConcurrencyLimit(1, { when: () => true })
  async alone(): Promise<number> {
    await gate.current.pass();
    return 1;
  }

  @Query(() => [Int], { nullable: true })
  @EnableRateLimiting('slots')
  stream(): AsyncIterable<object> {
    return numbers('ends');
  }

  @Query(() => Int, { nullable: true })
  @EnableRateLimiting('perClient')
  mine(): number {
    return 1;
  }

  @Subscription(() => Int)
  @EnableRateLimiting('slots')
  ticks(@Args('end') end: 'ends' | 'fails' | 'stays' | 'throws'): AsyncIterable<object> {
    if (end === 'throws') throw new Error('There is no stream.');
    return numbers(end);
  }

  @Subscription(() => Int, { name: 'broken' })
  @EnableRateLimiting('slots')
  broken(): AsyncIterable<object> {
    return {
      [Symbol.asyncIterator](): never {
        throw new Error('It can’t be read.');
      },
    };
  }
}

describe('permits of resolvers', () => {
  beforeEach(() => (gate.current = new Gate()));
  afterEach(async () => {
    gate.current.open();
    await closeSubscribers();
    await stopApps();
  });

  const start = (slots: WatchedLimiter, resolver: Provider = WorkResolver): Promise<TestApp> =>
    startApp(PLATFORMS[0]!, {
      imports: [
        RateLimitingModule.forRoot({
          clock: new FakeClock(),
          policies: {
            slots: slots.policy,
            budget: { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000 },
            perClient: { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000, key: byClient() },
          },
        }),
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriver,
          autoSchemaFile: true,
          subscriptions: { 'graphql-ws': true },
        }),
      ],
      providers: [resolver],
    });

  it.each(['ends', 'fails', 'throws'])('go back once when a subscription %s by itself', async (end) => {
    const slots = new WatchedLimiter(1);
    const asked = ask(subscriber(await start(slots)), `subscription { ticks(end: "${end}") }`);
    await eventually(() => asked.hasEnded);
    await eventually(() => slots.held === 0);
    expect(slots.statistics).toMatchObject({ currentAvailablePermits: 1, totalSuccessfulLeases: 1 });
  });

  it('go back where a stream can’t be read at all', async () => {
    const slots = new WatchedLimiter(1);
    const asked = ask(subscriber(await start(slots)), 'subscription { broken }');
    await eventually(() => asked.hasEnded);
    expect(slots.statistics).toMatchObject({ currentAvailablePermits: 1, totalSuccessfulLeases: 1 });
  });

  it('go back where a query has a stream for a result, which nobody reads', async () => {
    const slots = new WatchedLimiter(1);
    const app = await start(slots);
    const { body } = await app.send({ method: 'POST', path: '/graphql', body: { query: '{ stream }' } });
    expect(JSON.parse(body)).toMatchObject({ data: { stream: null } });
    expect(slots.statistics).toMatchObject({ currentAvailablePermits: 1, totalSuccessfulLeases: 1 });
  });

  it.each([
    ['a class', WorkResolver],
    ['a value', { provide: WorkResolver, useValue: new WorkResolver() }],
    ['a factory', { provide: WorkResolver, useFactory: () => new WorkResolver() }],
    ['a late factory', { provide: 'work', useFactory: async () => Promise.resolve(new WorkResolver()) }],
  ] as const)('are taken after pipes where the resolver comes from %s', async (_from, resolver) => {
    const app = await start(new WatchedLimiter(1), resolver);
    const query = '{ a: paid b: paid c: alone d: alone }';
    const asked = app.send({ method: 'POST', path: '/graphql', body: { query } });
    await eventually(() => gate.current.waiting > 0);
    gate.current.open();
    expect(JSON.parse((await asked).body)).toMatchObject({ data: { a: 1, b: null, c: 1, d: null } });
  });

  it('count for the address of a client that asks by graphql-ws, together with HTTP', async () => {
    const app = await start(new WatchedLimiter(1));
    const asked = ask(subscriber(app), '{ mine }');
    await eventually(() => asked.hasEnded);
    expect(asked.results).toEqual([{ mine: 1 }]);
    const { body } = await app.send({ method: 'POST', path: '/graphql', body: { query: '{ mine }' } });
    expect(JSON.parse(body)).toMatchObject({
      data: { mine: null },
      errors: [{ extensions: { status: 429 } }],
    });
  });

  it('are held by nobody after operations that came at once were given up', async () => {
    const slots = new WatchedLimiter(1, 20);
    const lease = slots.limiter.attemptAcquire();
    const client = subscriber(await start(slots));
    const asked = Array.from({ length: 12 }, () => ask(client, 'subscription { ticks(end: "stays") }'));
    await eventually(() => slots.queued === 12);
    for (const { stop } of asked.slice(1)) stop();
    lease.dispose();
    await eventually(() => asked[0]!.results.length === 1);
    expect(slots.held).toBe(1);
    asked[0]!.stop();
    await eventually(() => slots.queued === 0 && slots.held === 0);
    expect(asked.slice(1).flatMap(({ results }) => results)).toEqual([]);
  });
});
