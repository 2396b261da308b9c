import { ApolloDriver } from '@nestjs/apollo';
import type { ApolloDriverConfig } from '@nestjs/apollo';
import type { INestApplication, WebSocketAdapter } from '@nestjs/common';
import { Controller, Module, ParseIntPipe, UseInterceptors } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Args, GraphQLModule, Int, Query, Resolver } from '@nestjs/graphql';
import type { ClientProxy } from '@nestjs/microservices';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimitingContext } from '@ratelease/nestjs';
import {
  ConcurrencyLimit,
  EnableRateLimiting,
  RateLimitingInterceptor,
  RateLimitingModule,
} from '@ratelease/nestjs';
import { lastValueFrom } from 'rxjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { NEST_MAJOR, SOCKET_KINDS, leaveAll } from '../fixtures/socket-clients.js';
import { freePort } from '../../../ports/free-port.js';
import { clientOf, closeClients, optionsOf } from './tcp-service.js';
import type { TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const gate = { current: new Gate() };
const paid: unknown[] = [];

/** The first argument, as pipes have made it. */
const cost = ({ args }: RateLimitingContext): number => {
  paid.push(args?.[0]);
  return args?.[0] as number;
};

/** Handlers of a class that others extend: where they stand must not matter. */
class Handlers {
  @MessagePattern('pay')
  @SubscribeMessage('pay')
  @EnableRateLimiting('budget', { phase: 'handler', permitCount: cost })
  pay(@Payload(ParseIntPipe) @MessageBody(ParseIntPipe) amount: number): { event: string; data: number } {
    return { event: 'paid', data: amount };
  }

  @MessagePattern('work')
  @SubscribeMessage('work')
  @ConcurrencyLimit(1, { when: (amount) => amount === 7 })
  async work(
    @Payload(ParseIntPipe) @MessageBody(ParseIntPipe) amount: number,
  ): Promise<{ event: string; data: number }> {
    await gate.current.pass();
    return { event: 'worked', data: amount };
  }
}

@WebSocketGateway()
@UseInterceptors(RateLimitingInterceptor)
class WorkGateway extends Handlers {}

@Controller()
@UseInterceptors(RateLimitingInterceptor)
class WorkController extends Handlers {}

@Resolver()
class WorkResolver {
  @Query(() => Int, { nullable: true })
  @EnableRateLimiting('budget', { phase: 'handler', permitCount: cost })
  pay(@Args('amount', ParseIntPipe) amount: number): number {
    return amount;
  }

  @Query(() => Int, { nullable: true })
  @ConcurrencyLimit(1, { when: (amount) => amount === 7 })
  async work(@Args('amount', ParseIntPipe) amount: number): Promise<number> {
    await gate.current.pass();
    return amount;
  }
}

const limits = () =>
  RateLimitingModule.forRoot({
    clock: new FakeClock(),
    policies: { budget: { algorithm: 'fixedWindow', permitLimit: 10, windowMs: 60_000 } },
  });

describe('after pipes, elsewhere than over HTTP', () => {
  beforeEach(() => {
    gate.current = new Gate();
    paid.length = 0;
  });
  afterEach(async () => {
    leaveAll();
    await closeClients();
    await stopApps();
  });

  const startGateway = (adapter: new (app: INestApplication) => object): Promise<TestApp> =>
    startApp(PLATFORMS[0]!, { imports: [limits()], providers: [WorkGateway] }, (app) =>
      app.useWebSocketAdapter(new adapter(app) as WebSocketAdapter),
    );

  it.each(SOCKET_KINDS)('limits messages of $name', async ({ name, adapter, connect }) => {
    const tells = NEST_MAJOR > 11 || name !== 'ws';
    const client = await connect((await startGateway(adapter)).app);
    client.say('pay', '6');
    client.say('pay', '6');
    client.say('pay', '4');
    await eventually(() => client.received.length === (tells ? 3 : 2));
    const paidFor = client.received.filter(({ event }) => event === 'paid').map(({ data }) => data);
    expect(paidFor).toEqual([6, 4]);
    expect(client.received.filter(({ event }) => event === 'exception')).toHaveLength(tells ? 1 : 0);
    expect(paid).toEqual([6, 6, 4]);

    for (const amount of ['7', '7', '1']) client.say('work', amount);
    await eventually(() => gate.current.waiting === 2);
    gate.current.open();
    await eventually(() => client.received.filter(({ event }) => event === 'worked').length === 2);
    expect(gate.current.arrivals).toBe(2);
  });

  it('counts for each application alone, where two of one process have the same class', async () => {
    const [{ adapter, connect }] = SOCKET_KINDS as [(typeof SOCKET_KINDS)[0]];
    for (const { app } of [await startGateway(adapter), await startGateway(adapter)]) {
      const client = await connect(app);
      client.say('pay', '10');
      await eventually(() => client.received.length === 1);
      expect(client.received[0]?.event).toBe('paid');
    }
    const open = await startApp(PLATFORMS[0]!, { providers: [Handlers, OpenGateway] }, (app) =>
      app.useWebSocketAdapter(new adapter(app) as WebSocketAdapter),
    );
    const client = await connect(open.app);
    for (let said = 0; said < 3; said++) client.say('pay', '10');
    await eventually(() => client.received.length === 3);
    expect(client.received.every(({ event }) => event === 'paid')).toBe(true);
  });

  const ask = (client: ClientProxy, pattern: string, amount: number): Promise<unknown> =>
    lastValueFrom(client.send<unknown>(pattern, amount)).catch((error: { code: number }) => error.code);

  const checkService = async (client: ClientProxy): Promise<void> => {
    const answers = [];
    for (const amount of [6, 6, 4]) answers.push(await ask(client, 'pay', amount));
    expect(answers).toEqual([{ event: 'paid', data: 6 }, 429, { event: 'paid', data: 4 }]);
    const working = [7, 7, 1].map((amount) => ask(client, 'work', amount));
    await eventually(() => gate.current.waiting === 2);
    gate.current.open();
    expect(await Promise.all(working)).toEqual([
      { event: 'worked', data: 7 },
      429,
      { event: 'worked', data: 1 },
    ]);
  };

  it('limits messages of a microservice', async () => {
    @Module({ imports: [limits()], controllers: [WorkController] })
    class RootModule {}
    const port = await freePort();
    const service = await NestFactory.createMicroservice(RootModule, { ...optionsOf(port), logger: false });
    await service.listen();
    await checkService(clientOf(port));
    await service.close();
  });

  it('limits messages of a hybrid application', async () => {
    const port = await freePort();
    const parts = { imports: [limits()], controllers: [WorkController] };
    await startApp(PLATFORMS[0]!, parts, async (app) => {
      app.connectMicroservice(optionsOf(port));
      await app.startAllMicroservices();
    });
    await checkService(clientOf(port));
  });

  it('limits calls of resolvers', async () => {
    const app = await startApp(PLATFORMS[0]!, {
      imports: [
        limits(),
        GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, autoSchemaFile: true }),
      ],
      providers: [WorkResolver],
    });
    const fields = [6, 6, 4].map((amount, index) => `pay${index}: pay(amount: ${amount})`);
    const query = `{ ${fields.join(' ')} seven: work(amount: 7) other: work(amount: 7) one: work(amount: 1) }`;
    const asked = app.send({ method: 'POST', path: '/graphql', body: { query } });
    await eventually(() => gate.current.waiting === 2);
    gate.current.open();
    expect(JSON.parse((await asked).body)).toMatchObject({
      data: { pay0: 6, pay1: null, pay2: 4, seven: 7, other: null, one: 1 },
      errors: [
        { path: ['pay1'], extensions: { code: 'TOO_MANY_REQUESTS', status: 429 } },
        { path: ['other'], extensions: { code: 'TOO_MANY_REQUESTS', status: 429 } },
      ],
    });
  });
});

@WebSocketGateway()
class OpenGateway extends Handlers {}
