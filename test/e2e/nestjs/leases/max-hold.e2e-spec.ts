import { Controller, Get, Res } from '@nestjs/common';
import { FakeClock } from '@ratelease/limiters/testing';
import { EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { PLATFORMS, bootError, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };

@Controller()
class EndlessController {
  @Get('never')
  @EnableRateLimiting('slots')
  never(): Promise<string> {
    return gate.current.pass().then(() => 'late');
  }

  @Get('large')
  @EnableRateLimiting('slots')
  large(@Res() response: { raw?: ServerResponse }): void {
    const raw = response.raw ?? (response as ServerResponse);
    raw.end(Buffer.alloc(64 * 1024 * 1024));
  }
}

describe.each(PLATFORMS)('maxHoldMs on $name', (platform) => {
  const clock = new FakeClock();
  const slots = { current: new WatchedLimiter(1) };
  beforeEach(() => {
    gate.current = new Gate();
    slots.current = new WatchedLimiter(1);
  });
  afterEach(stopApps);

  const start = () =>
    startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({ clock, maxHoldMs: 30_000, policies: { slots: slots.current.policy } }),
      ],
      controllers: [EndlessController],
    });

  it('gives back what a handler holds that never ends, once', async () => {
    const app = await start();
    const first = app.open('/never');
    await eventually(() => gate.current.waiting === 1);
    first.abort();
    clock.advance(29_999);
    expect(slots.current.held).toBe(1);
    clock.advance(1);
    expect(slots.current.held).toBe(0);
    const second = app.open('/never');
    await eventually(() => gate.current.waiting === 2);
    gate.current.open();
    expect((await second.answer).body).toBe('late');
    await eventually(() => slots.current.held === 0);
    expect(slots.current.statistics.currentAvailablePermits).toBe(1);
    clock.advance(60_000);
    expect(slots.current.statistics.currentAvailablePermits).toBe(1);
  });

  it('gives back what a client holds that stops reading', async () => {
    const app = await start();
    const socket = connect(app.port, '127.0.0.1');
    socket.pause();
    socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(() => slots.current.held === 1);
    expect((await app.get('/never')).status).toBe(429);
    clock.advance(30_000);
    expect(slots.current.held).toBe(0);
    socket.destroy();
  });
});

describe('the boot', () => {
  afterEach(stopApps);

  it.each([0, -1, Infinity, Number.NaN, '5s'])('stops at maxHoldMs: %p', async (maxHoldMs) => {
    const error = await bootError(PLATFORMS[0]!, {
      imports: [RateLimitingModule.forRoot({ maxHoldMs: maxHoldMs as number })],
    });
    expect(error.code).toBe('ERR_RL_INVALID_OPTION');
    expect(error.message).toContain('maxHoldMs');
  });
});
