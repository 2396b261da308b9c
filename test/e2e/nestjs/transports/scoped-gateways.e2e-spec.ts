import type { WebSocketAdapter } from '@nestjs/common';
import { Scope } from '@nestjs/common';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import type { RateLimitingContext } from '@ratelease/nestjs';
import { EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { SOCKET_KINDS, leaveAll } from '../fixtures/socket-clients.js';
import type { TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };

@WebSocketGateway()
class WorkGateway {
  @SubscribeMessage('work')
  @EnableRateLimiting('slots')
  async work(): Promise<void> {
    await gate.current.pass();
  }

  @SubscribeMessage('fail')
  @EnableRateLimiting('slots')
  async fail(): Promise<void> {
    await gate.current.pass();
    throw new Error('The work has failed.');
  }
}

describe.each(SOCKET_KINDS)('a gateway that is made per client, with $name', (kind) => {
  const signals: AbortSignal[] = [];
  beforeEach(() => {
    gate.current = new Gate();
    signals.length = 0;
  });
  afterEach(async () => {
    gate.current.open();
    leaveAll();
    await stopApps();
  });

  const start = (slots: WatchedLimiter): Promise<TestApp> => {
    const noted = (context: RateLimitingContext): ReturnType<typeof slots.policy> => {
      signals.push(context.signal);
      return slots.policy(context);
    };
    return startApp(
      PLATFORMS[0]!,
      {
        imports: [RateLimitingModule.forRoot({ policies: { slots: noted } })],
        providers: [{ provide: WorkGateway, useClass: WorkGateway, scope: Scope.REQUEST }],
      },
      (app) => app.useWebSocketAdapter(new kind.adapter(app) as WebSocketAdapter),
    );
  };

  it('holds permits until its work ends, though its client has left, in each of two applications', async () => {
    const limiters = [new WatchedLimiter(1), new WatchedLimiter(1)];
    const apps: TestApp[] = [];
    for (const slots of limiters) apps.push(await start(slots));
    for (const [index, event] of ['work', 'fail'].entries()) {
      const client = await kind.connect(apps[index]!.app);
      client.say(event);
      await eventually(() => gate.current.waiting === index + 1);
      client.leave();
    }
    await eventually(() => signals.length === 2 && signals.every(({ aborted }) => aborted));
    expect(limiters.map(({ held }) => held)).toEqual([1, 1]);
    gate.current.open();
    await eventually(() => limiters.every(({ held }) => held === 0));
  });
});
