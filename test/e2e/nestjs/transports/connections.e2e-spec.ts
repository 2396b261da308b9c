import type { Provider, WebSocketAdapter } from '@nestjs/common';
import { Scope } from '@nestjs/common';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import {
  ConcurrencyLimit,
  DisableRateLimiting,
  EnableRateLimiting,
  RateLimitingModule,
} from '@ratelease/nestjs';
import { eventually } from '../fixtures/eventually.js';
import type { TestClient } from '../fixtures/socket-clients.js';
import { NEST_MAJOR, SOCKET_KINDS, leaveAll } from '../fixtures/socket-clients.js';
import type { TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const connected: string[] = [];

class Noting {
  handleConnection(_client: unknown): void {
    connected.push('noted');
  }
}

describe.each(SOCKET_KINDS)('connections of $name', (kind) => {
  const connections = { current: new WatchedLimiter(1) };

  beforeEach(() => {
    connected.length = 0;
    connections.current = new WatchedLimiter(1);
  });
  afterEach(async () => {
    leaveAll();
    await stopApps();
  });

  const start = (gateway: Provider, options: RateLimitingModuleOptions = {}): Promise<TestApp> =>
    startApp(
      PLATFORMS[0]!,
      {
        imports: [
          RateLimitingModule.forRoot({ policies: { connections: connections.current.policy }, ...options }),
        ],
        providers: [gateway],
      },
      (app) => app.useWebSocketAdapter(new kind.adapter(app) as WebSocketAdapter),
    );
  const refused = async ({ app }: TestApp): Promise<TestClient> => {
    const client = await kind.connect(app);
    await eventually(() => client.isClosed());
    return client;
  };

  it('count once where their method calls the one it overrides, which has the limit as well', async () => {
    class Base extends Noting {
      @EnableRateLimiting('connections')
      override handleConnection(client: unknown): void {
        super.handleConnection(client);
      }
    }
    @WebSocketGateway()
    class Gateway extends Base {
      @EnableRateLimiting('connections')
      override handleConnection(client: unknown): void {
        super.handleConnection(client);
        connected.push('own');
      }
    }
    const app = await start(Gateway);
    const first = await kind.connect(app.app);
    await eventually(() => connected.length === 2);
    expect(connected).toEqual(['noted', 'own']);
    await refused(app);
    expect(connected).toHaveLength(2);
    first.leave();
    await eventually(() => connections.current.held === 0);
  });

  it('are limited by @ConcurrencyLimit(), alone and together with a policy', async () => {
    @WebSocketGateway()
    class Gateway extends Noting {
      @ConcurrencyLimit(1, { when: () => true })
      override handleConnection(client: unknown): void {
        super.handleConnection(client);
      }
    }
    @WebSocketGateway()
    class BothGateway extends Noting {
      @ConcurrencyLimit(1, { when: () => true })
      @EnableRateLimiting('connections')
      override handleConnection(client: unknown): void {
        super.handleConnection(client);
      }
    }
    connections.current = new WatchedLimiter(10);
    for (const gateway of [Gateway, BothGateway]) {
      connected.length = 0;
      const app = await start(gateway);
      await kind.connect(app.app);
      await eventually(() => connected.length === 1);
      await refused(app);
      expect(connected).toHaveLength(1);
    }
    await eventually(() => connections.current.held === 1);
  });

  it('are limited by the options, for gateways that aren’t one’s own', async () => {
    @WebSocketGateway()
    class Gateway extends Noting {}
    const endpoints = [{ controller: Gateway, handler: 'handleConnection', policies: ['connections'] }];
    const app = await start(Gateway, { endpoints });
    await kind.connect(app.app);
    await eventually(() => connected.length === 1);
    await refused(app);
    expect(connected).toHaveLength(1);
  });

  it('are left alone by what stands on the gateway or applies to all, which is for messages', async () => {
    @WebSocketGateway()
    @EnableRateLimiting('connections')
    class Gateway extends Noting {}
    @WebSocketGateway()
    class FreeGateway {
      @EnableRateLimiting('connections')
      @DisableRateLimiting()
      handleConnection(): void {
        connected.push('free');
      }
    }
    for (const gateway of [Gateway, FreeGateway]) {
      connected.length = 0;
      const app = await start(gateway, { global: connections.current.policy });
      for (let count = 1; count <= 3; count++) {
        await kind.connect(app.app);
        await eventually(() => connected.length === count);
      }
    }
    expect(connections.current.held).toBe(0);
  });

  it('take from the global limiter in whatever phase it is asked', async () => {
    @WebSocketGateway()
    class Gateway extends Noting {
      @EnableRateLimiting('free')
      override handleConnection(client: unknown): void {
        super.handleConnection(client);
      }
    }
    for (const globalPhase of ['middleware', 'guard', undefined] as const) {
      connected.length = 0;
      const global = new WatchedLimiter(1);
      const policies = { free: { algorithm: 'concurrency', permitLimit: 9 } } as const;
      const app = await start(Gateway, { global: global.policy, globalPhase, policies });
      await kind.connect(app.app);
      await eventually(() => connected.length === 1);
      expect(global.held).toBe(1);
      await refused(app);
    }
  });

  it('hold nothing for clients that leave while they connect', async () => {
    connections.current = new WatchedLimiter(2, 50);
    @WebSocketGateway()
    class Gateway {
      @EnableRateLimiting('connections')
      async handleConnection(client: { disconnect?(): void; terminate?(): void }): Promise<void> {
        connected.push('noted');
        if (connected.length % 2 === 1) client.disconnect?.();
        await Promise.resolve();
        if (connected.length % 2 === 1) client.terminate?.();
      }
    }
    const app = await start(Gateway);
    for (let round = 0; round < 20; round++) {
      const client = await kind.connect(app.app);
      client.leave();
    }
    const { limiter } = connections.current;
    await eventually(() => connections.current.held === 0 && connections.current.queued === 0);
    expect(limiter.getStatistics().totalSuccessfulLeases).toBe(connected.length);
  });

  // Nest 11 makes no gateways per client.
  if (NEST_MAJOR > 11)
    it('can’t be limited where the gateway is made per client, and the boot says so', async () => {
      @WebSocketGateway()
      class Gateway extends Noting {
        @EnableRateLimiting('connections')
        override handleConnection(client: unknown): void {
          super.handleConnection(client);
        }

        @SubscribeMessage('say')
        say(): string {
          return 'said';
        }
      }
      const provider = { provide: Gateway, useClass: Gateway, scope: Scope.REQUEST };
      await expect(start(provider)).rejects.toMatchObject({
        code: 'ERR_RL_INVALID_ENDPOINT',
        message: expect.stringMatching(/^Gateway\.handleConnection .* Make the gateway a singleton\.$/),
      });
    });
});
