import { ApolloDriver } from '@nestjs/apollo';
import type { ApolloDriverConfig } from '@nestjs/apollo';
import { UseGuards, UseInterceptors } from '@nestjs/common';
import { Args, GraphQLModule, Int, Query, Resolver, Subscription } from '@nestjs/graphql';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  EnableRateLimiting,
  RateLimitingGuard,
  RateLimitingInterceptor,
  RateLimitingModule,
  byClient,
} from '@ratelease/nestjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { ask, closeSubscribers, subscriber } from '../fixtures/graphql-subscriber.js';
import type { TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };
const handled: string[] = [];

/** Events that come when a test says so. */
class Events {
  #waiting: ((result: IteratorResult<object>) => void)[] = [];
  isStopped = false;

  say(count: number): void {
    this.#waiting.shift()?.({ done: false, value: { ticks: count } });
  }

  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  stream(): AsyncIterableIterator<object> {
    const stop = (): Promise<IteratorResult<object>> => {
      this.isStopped = true;
      for (const resolve of this.#waiting.splice(0)) resolve({ done: true, value: undefined });
      return Promise.resolve({ done: true, value: undefined });
    };
    return {
      next: () => new Promise((resolve) => this.#waiting.push(resolve)),
      return: stop,
      throw: stop,
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}

const events = { current: new Events() };

@Resolver()
class AnswerResolver {
  @Query(() => String, { nullable: true })
  @EnableRateLimiting('window')
  limited(): string {
    handled.push('limited');
    return 'ok';
  }

  @Query(() => String, { nullable: true })
  @EnableRateLimiting('costs', {
    permitCount: ({ execution }) => execution.getArgs<[never, { cost: number }]>()[1].cost,
  })
  costly(@Args('cost', { type: () => Int }) cost: number): string {
    return `cost ${cost}`;
  }

  @Query(() => String, { nullable: true })
  @EnableRateLimiting('costs', { permitCount: 5 })
  @UseGuards(RateLimitingGuard, RateLimitingGuard)
  @UseInterceptors(RateLimitingInterceptor)
  boundAgain(): string {
    return 'ok';
  }

  @Query(() => String, { nullable: true })
  @EnableRateLimiting('slots')
  async slow(): Promise<string> {
    await gate.current.pass();
    return 'done';
  }

  @Query(() => String, { nullable: true })
  free(): string {
    return 'free';
  }

  @Subscription(() => Int)
  @EnableRateLimiting('slots')
  ticks(): AsyncIterable<object> {
    return events.current.stream();
  }
}

interface GraphqlAnswer {
  readonly data: Record<string, string | null> | null;
  readonly errors?: { readonly message: string; readonly path: string[]; readonly extensions: object }[];
}

describe('GraphQL', () => {
  beforeEach(() => {
    gate.current = new Gate();
    events.current = new Events();
    handled.length = 0;
  });
  afterEach(async () => {
    await closeSubscribers();
    await stopApps();
  });

  const start = (slots: WatchedLimiter, options: RateLimitingModuleOptions = {}): Promise<TestApp> =>
    startApp(PLATFORMS[0]!, {
      imports: [
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriver,
          autoSchemaFile: true,
          subscriptions: { 'graphql-ws': true },
          allowBatchedHttpRequests: true,
        }),
        RateLimitingModule.forRoot({
          clock: new FakeClock(),
          ...options,
          policies: {
            window: { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000, key: byClient() },
            costs: { algorithm: 'fixedWindow', permitLimit: 10, windowMs: 60_000 },
            slots: slots.policy,
          },
        }),
      ],
      providers: [AnswerResolver],
    });
  const post = async (app: TestApp, query: string): Promise<GraphqlAnswer> =>
    JSON.parse((await app.send({ method: 'POST', path: '/graphql', body: { query } })).body) as GraphqlAnswer;

  it('refuses with a code and the time, and leaves the rest of the answer alone', async () => {
    const app = await start(new WatchedLimiter(1));
    expect(await post(app, '{ limited }')).toEqual({ data: { limited: 'ok' } });
    const { data, errors } = await post(app, '{ free }');
    expect([data, errors]).toEqual([{ free: 'free' }, undefined]);
    const refused = await post(app, '{ limited }');
    expect(refused.errors).toHaveLength(1);
    expect(refused.errors![0]).toMatchObject({
      message: 'Too many requests.',
      path: ['limited'],
      extensions: { code: 'TOO_MANY_REQUESTS', status: 429, policy: 'window', retryAfter: 60 },
    });
  });

  it('counts every call of a resolver: aliases and batches hide nothing', async () => {
    const app = await start(new WatchedLimiter(1), {
      global: { algorithm: 'concurrency', permitLimit: 1_000 },
    });
    const five = ['a', 'b', 'c', 'd', 'e'];
    const aliases = await post(app, `{ ${five.map((alias) => `${alias}: costly(cost: 4)`).join(' ')} }`);
    expect(aliases.errors?.length).toBe(3);
    const body = five.map(() => ({ query: '{ limited }' }));
    const batch = JSON.parse(
      (await app.send({ method: 'POST', path: '/graphql', body })).body,
    ) as GraphqlAnswer[];
    expect(batch.filter(({ errors }) => errors === undefined)).toHaveLength(1);
    expect(handled).toEqual(['limited']);
  });

  it('counts a call once where guard and interceptor are bound to its resolver as well', async () => {
    const app = await start(new WatchedLimiter(1));
    const { data, errors } = await post(app, '{ a: boundAgain b: boundAgain c: boundAgain }');
    expect(Object.values(data!).filter((answer) => answer === 'ok')).toHaveLength(2);
    expect(errors).toMatchObject([{ extensions: { code: 'TOO_MANY_REQUESTS', policy: 'costs' } }]);
  });

  it('counts what no decorator names for the global limiter', async () => {
    const global = { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000 } as const;
    const app = await start(new WatchedLimiter(1), { global });
    expect((await post(app, '{ free }')).errors).toBeUndefined();
    const { errors } = await post(app, '{ free }');
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'TOO_MANY_REQUESTS', policy: 'global' });
  });

  it('lets the aliases of one operation wait for each other without a deadlock', async () => {
    const slots = new WatchedLimiter(1, 10);
    const app = await start(slots);
    gate.current.open();
    const { data, errors } = await post(app, '{ a: slow b: slow c: slow }');
    expect([data, errors]).toEqual([{ a: 'done', b: 'done', c: 'done' }, undefined]);
    await eventually(() => slots.held === 0);
  });

  it('holds the permit of a subscription until it is given up, and refuses another one meanwhile', async () => {
    const slots = new WatchedLimiter(1);
    const app = await start(slots);
    const { results, stop } = ask(subscriber(app), 'subscription { ticks }');
    await eventually(() => events.current.isAwaited);
    events.current.say(7);
    await eventually(() => results.length === 1);
    expect(results[0]).toEqual({ ticks: 7 });
    expect(slots.held).toBe(1);

    const refused = ask(subscriber(app), 'subscription { ticks }');
    await eventually(() => refused.results.length > 0);
    expect(JSON.stringify(refused.results)).toContain('TOO_MANY_REQUESTS');
    expect(slots.held).toBe(1);

    stop();
    await eventually(() => slots.held === 0);
    expect(events.current.isStopped).toBe(true);
  });

  it('gives the permit of a subscription back when its socket breaks', async () => {
    const slots = new WatchedLimiter(1);
    const app = await start(slots);
    const client = subscriber(app);
    ask(client, 'subscription { ticks }');
    await eventually(() => events.current.isAwaited);
    expect(slots.held).toBe(1);
    client.terminate();
    await eventually(() => slots.held === 0);
  });
});
