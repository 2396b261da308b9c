import type { Type, WebSocketAdapter } from '@nestjs/common';
import { Controller, Get, UseInterceptors } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  ConcurrencyLimit,
  EnableRateLimiting,
  RateLimitingInterceptor,
  RateLimitingModule,
} from '@ratelease/nestjs';
import { eventually } from '../fixtures/eventually.js';
import { SOCKET_KINDS, leaveAll } from '../fixtures/socket-clients.js';
import type { Platform, TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const window = { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000 } as const;

/** Lets nobody change the methods of a class. */
function Frozen(): ClassDecorator {
  return (target) => void Object.freeze(target.prototype);
}

afterEach(async () => {
  leaveAll();
  await stopApps();
});

describe.each(PLATFORMS)('limits on $name', (platform: Platform) => {
  class Routes {
    @Get('guarded')
    @EnableRateLimiting('guarded', { phase: 'guard' })
    guarded(): string {
      return 'ok';
    }

    @Get('plain')
    @EnableRateLimiting('plain')
    plain(): string {
      return 'ok';
    }

    @Get('late')
    @EnableRateLimiting('late', { phase: 'handler' })
    late(): string {
      return 'ok';
    }

    @Get('held')
    @EnableRateLimiting('slots')
    held(): string {
      return 'ok';
    }
  }

  const start = (controller: Type, slots: WatchedLimiter): Promise<TestApp> =>
    startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          policies: { guarded: window, plain: window, late: window, slots: slots.policy },
        }),
      ],
      controllers: [controller],
    });

  @Controller()
  @Frozen()
  class FrozenClass extends Routes {}

  @Controller()
  class FrozenInstance extends Routes {
    constructor() {
      super();
      Object.freeze(this);
    }
  }

  it.each([FrozenClass, FrozenInstance])('hold for the routes of a %p', async (controller) => {
    const slots = new WatchedLimiter(1);
    const app = await start(controller, slots);
    for (const path of ['/guarded', '/plain', '/late'])
      expect(await app.statuses(path, 2)).toEqual([200, 429]);
    expect(await app.statuses('/held', 1)).toEqual([200]);
    await eventually(() => slots.held === 0);
    const lease = slots.limiter.attemptAcquire();
    expect(await app.statuses('/held', 1)).toEqual([429]);
    lease.dispose();
  });

  it('after pipes stop the boot where neither class nor instance lets anything stand before the method', async () => {
    @Controller()
    class Fixed {
      constructor() {
        Object.freeze(this);
      }

      @Get('late')
      @EnableRateLimiting('late', { phase: 'handler' })
      late(): string {
        return 'ok';
      }
    }
    Object.freeze(Fixed.prototype);
    await expect(start(Fixed, new WatchedLimiter(1))).rejects.toMatchObject({
      code: 'ERR_RL_INVALID_ENDPOINT',
      message: expect.stringContaining('Fixed.prototype is frozen'),
    });
  });
});

describe('limits of a frozen gateway', () => {
  const kind = SOCKET_KINDS[0]!;
  const start = (gateway: Type, policies: RateLimitingModuleOptions['policies']): Promise<TestApp> =>
    startApp(
      PLATFORMS[0]!,
      { imports: [RateLimitingModule.forRoot({ policies })], providers: [gateway] },
      (app) => app.useWebSocketAdapter(new WsAdapter(app) as WebSocketAdapter),
    );

  it('don’t disturb its messages where there are none, and hold where nothing is held', async () => {
    @WebSocketGateway()
    @UseInterceptors(RateLimitingInterceptor)
    @Frozen()
    class Gateway {
      @SubscribeMessage('free')
      free(): object {
        return { event: 'said', data: 'free' };
      }

      @SubscribeMessage('say')
      @EnableRateLimiting('window')
      say(): object {
        return { event: 'said', data: 'limited' };
      }
    }
    const { app } = await start(Gateway, { window });
    const client = await kind.connect(app);
    for (const event of ['say', 'say', 'free']) client.say(event);
    await eventually(() => client.received.some(({ data }) => data === 'free'));
    expect(client.received.filter(({ data }) => data === 'limited')).toHaveLength(1);
  });

  it('hold for its connections, whose decorator comes before', async () => {
    const slots = new WatchedLimiter(1);
    @WebSocketGateway()
    @Frozen()
    class Gateway {
      @EnableRateLimiting('slots')
      handleConnection(): void {
        // Whoever comes so far is connected.
      }
    }
    const { app } = await start(Gateway, { slots: slots.policy });
    await kind.connect(app);
    await eventually(() => slots.held === 1);
    const refused = await kind.connect(app);
    await eventually(() => refused.isClosed());
  });

  it('stop the boot where they hold permits, or are asked after pipes', async () => {
    @WebSocketGateway()
    class Holding {
      @SubscribeMessage('work')
      @EnableRateLimiting('slots')
      work(): void {
        // Nobody comes so far.
      }
    }
    @WebSocketGateway()
    class Late {
      @SubscribeMessage('work')
      @EnableRateLimiting('window', { phase: 'handler' })
      work(): void {
        // Nobody comes so far.
      }
    }
    @WebSocketGateway()
    class Conditional {
      @SubscribeMessage('work')
      @ConcurrencyLimit(1, { when: () => true })
      work(): void {
        // Nobody comes so far.
      }
    }
    for (const gateway of [Holding, Late, Conditional]) {
      Object.freeze(gateway.prototype);
      await expect(start(gateway, { window, slots: new WatchedLimiter(1).policy })).rejects.toMatchObject({
        code: 'ERR_RL_INVALID_ENDPOINT',
        message: expect.stringContaining(`${gateway.name}.prototype is frozen`),
      });
    }
  });
});
