import type { WebSocketAdapter } from '@nestjs/common';
import { Controller, Get, UseInterceptors } from '@nestjs/common';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import type { RateLimitingContext, RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  ConcurrencyLimit,
  EnableRateLimiting,
  RateLimitingInterceptor,
  RateLimitingModule,
} from '@ratelease/nestjs';
import type { Observable } from 'rxjs';
import { NEVER, from } from 'rxjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import type { TestClient } from '../fixtures/socket-clients.js';
import { NEST_MAJOR, SOCKET_KINDS, leaveAll } from '../fixtures/socket-clients.js';
import type { TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };
const signals: AbortSignal[] = [];
let asked = 0;

interface Answer {
  readonly event: string;
  readonly data: string;
}

/** Work that begins when somebody asks for its result, as queries of databases do. */
function lazyWork(): PromiseLike<Answer> {
  return {
    // oxlint-disable-next-line unicorn/no-thenable -- that is what it is about
    then: (onValue, onError) => {
      asked++;
      return gate.current
        .pass()
        .then(() => ({ event: 'worked', data: 'late' }))
        .then(onValue, onError);
    },
  };
}

class Messages {
  @SubscribeMessage('work')
  @EnableRateLimiting('slots')
  async work(): Promise<Answer> {
    await gate.current.pass();
    return { event: 'worked', data: 'done' };
  }

  @SubscribeMessage('fail')
  @EnableRateLimiting('slots')
  async fail(): Promise<Answer> {
    await gate.current.pass();
    throw new Error('The work has failed.');
  }

  @SubscribeMessage('throw')
  @EnableRateLimiting('slots')
  throwAtOnce(): Answer {
    throw new Error('The work has failed.');
  }

  @SubscribeMessage('lazy')
  @EnableRateLimiting('slots')
  lazy(): PromiseLike<Answer> {
    return lazyWork();
  }

  @SubscribeMessage('late')
  @EnableRateLimiting('slots', { phase: 'handler' })
  async late(): Promise<Answer> {
    return this.work();
  }

  @SubscribeMessage('costly')
  @ConcurrencyLimit(1, { when: () => true })
  async costly(): Promise<Answer> {
    return this.work();
  }

  @SubscribeMessage('watch')
  @EnableRateLimiting('slots')
  async watch(): Promise<Observable<Answer>> {
    await gate.current.pass();
    return NEVER;
  }

  @SubscribeMessage('values')
  @EnableRateLimiting('slots')
  values(@MessageBody() count: number): Observable<Answer> {
    return from(Array.from({ length: count }, () => ({ event: 'worked', data: 'one' })));
  }
}

@WebSocketGateway()
@UseInterceptors(RateLimitingInterceptor)
class WorkGateway extends Messages {}

const worked = ({ received }: TestClient): number =>
  received.filter(({ event }) => event === 'worked').length;

describe.each(SOCKET_KINDS)('work for messages of $name', (kind) => {
  beforeEach(() => {
    gate.current = new Gate();
    signals.length = 0;
    asked = 0;
  });
  afterEach(async () => {
    gate.current.open();
    leaveAll();
    await stopApps();
  });

  const start = async (
    slots: WatchedLimiter,
    gateway: new () => object = WorkGateway,
    options: RateLimitingModuleOptions = {},
  ): Promise<TestApp> => {
    const noted = (context: RateLimitingContext): ReturnType<typeof slots.policy> => {
      signals.push(context.signal);
      return slots.policy(context);
    };
    return startApp(
      PLATFORMS[0]!,
      {
        imports: [RateLimitingModule.forRoot({ policies: { slots: noted }, ...options })],
        providers: [gateway],
      },
      (app) => app.useWebSocketAdapter(new kind.adapter(app) as WebSocketAdapter),
    );
  };

  it.each(['work', 'fail', 'lazy', 'late'])(
    'holds its permit until it ends, though its client has left: %s',
    async (event) => {
      const slots = new WatchedLimiter(1);
      const { app } = await start(slots);
      const client = await kind.connect(app);
      client.say(event);
      await eventually(() => gate.current.waiting === 1);
      client.leave();
      await eventually(() => signals.every(({ aborted }) => aborted));
      expect(slots.held).toBe(1);
      gate.current.open();
      await eventually(() => slots.held === 0);
      expect([gate.current.arrivals, asked]).toEqual([1, event === 'lazy' ? 1 : 0]);
    },
  );

  it('holds what @ConcurrencyLimit() took', async () => {
    const { app } = await start(new WatchedLimiter(1));
    const first = await kind.connect(app);
    first.say('costly');
    await eventually(() => gate.current.waiting === 1);
    first.leave();
    const second = await kind.connect(app);
    second.say('costly');
    second.say('values', 1);
    await eventually(() => worked(second) === 1);
    expect(gate.current.arrivals).toBe(1);
    gate.current.open();
    await eventually(() => {
      second.say('costly');
      return worked(second) > 1;
    });
  });

  it('holds no longer what an observable of a client that left holds', async () => {
    const slots = new WatchedLimiter(1);
    const { app } = await start(slots);
    const client = await kind.connect(app);
    client.say('watch');
    await eventually(() => gate.current.waiting === 1);
    gate.current.open();
    client.leave();
    await eventually(() => slots.held === 0);
  });

  it('gives back once what handlers hold that end at once, by an answer, many or an error', async () => {
    const slots = new WatchedLimiter(4);
    const { app } = await start(slots);
    const client = await kind.connect(app);
    client.say('throw');
    client.say('values', 3);
    client.say('throw');
    client.say('values', 2);
    await eventually(() => worked(client) === 5);
    expect(slots.statistics).toMatchObject({ currentAvailablePermits: 4, totalSuccessfulLeases: 4 });
  });

  it('frees nothing for clients that come and go again', async () => {
    const slots = new WatchedLimiter(2);
    const { app } = await start(slots);
    for (let round = 0; round < 20; round++) {
      const client = await kind.connect(app);
      client.say('work');
      await eventually(() => slots.statistics.totalFailedLeases + slots.held === round + 1);
      client.leave();
    }
    expect([gate.current.arrivals, slots.held]).toEqual([2, 2]);
    gate.current.open();
    await eventually(() => slots.held === 0);
  });

  it('limits a method once that calls the one it overrides, and each gateway by its own', async () => {
    @WebSocketGateway()
    @UseInterceptors(RateLimitingInterceptor)
    class NarrowGateway extends WorkGateway {
      @SubscribeMessage('work')
      @EnableRateLimiting('slots', { phase: 'handler' })
      override async work(): Promise<Answer> {
        return super.work();
      }
    }
    const slots = new WatchedLimiter(1);
    const { app } = await start(slots, NarrowGateway);
    const client = await kind.connect(app);
    client.say('work');
    await eventually(() => gate.current.waiting === 1);
    expect(slots.statistics.totalSuccessfulLeases).toBe(1);
    client.leave();
    await eventually(() => signals.every(({ aborted }) => aborted));
    expect(slots.held).toBe(1);
    gate.current.open();
    await eventually(() => slots.held === 0);
  });

  it('limits after its pipes a method that is a route, too', async () => {
    const paid: unknown[] = [];
    const policies = { budget: { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000 } } as const;
    @WebSocketGateway()
    @Controller()
    @UseInterceptors(RateLimitingInterceptor)
    class BothGateway {
      @Get('pay')
      @SubscribeMessage('pay')
      @EnableRateLimiting('budget', { phase: 'handler' })
      pay(): Answer {
        paid.push(1);
        return { event: 'worked', data: 'paid' };
      }
    }
    const { app } = await start(new WatchedLimiter(1), BothGateway, { policies });
    const client = await kind.connect(app);
    for (let said = 0; said < 3; said++) client.say('pay');
    if (NEST_MAJOR > 11 || kind.name !== 'ws') await eventually(() => client.received.length === 3);
    await eventually(() => worked(client) === 1);
    expect(paid).toHaveLength(1);
  });

  // Nest 11 runs nothing app-wide on gateways.
  if (NEST_MAJOR > 11)
    it('holds permits of the global limiter for gateways that name no policy', async () => {
      const works = new Gate();
      @WebSocketGateway()
      class PlainGateway {
        @SubscribeMessage('work')
        async work(): Promise<void> {
          await works.pass();
        }
      }
      const slots = new WatchedLimiter(1);
      let signal: AbortSignal | undefined;
      const global = (context: RateLimitingContext): ReturnType<typeof slots.policy> => {
        signal = context.signal;
        return slots.policy(context);
      };
      const { app } = await start(slots, PlainGateway, { global, policies: {} });
      const client = await kind.connect(app);
      client.say('work');
      await eventually(() => works.waiting === 1);
      client.leave();
      await eventually(() => signal!.aborted);
      expect(slots.held).toBe(1);
      works.open();
      await eventually(() => slots.held === 0);
    });
});
