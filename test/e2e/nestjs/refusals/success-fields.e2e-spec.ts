import { Controller, Get, NotFoundException } from '@nestjs/common';
import { EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import { FakeClock } from '@ratelease/limiters/testing';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import type { Platform } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };

@Controller()
class AnswersController {
  @Get('ok')
  @EnableRateLimiting('three')
  ok(): string {
    return 'ok';
  }

  @Get('missing')
  @EnableRateLimiting('three')
  missing(): never {
    throw new NotFoundException();
  }

  @Get('broken')
  @EnableRateLimiting('three')
  broken(): never {
    throw new Error('as handlers do');
  }

  @Get('work')
  @EnableRateLimiting('slots')
  async work(): Promise<string> {
    await gate.current.pass();
    return 'done';
  }
}

describe.each(PLATFORMS)('the fields of what is granted on $name', (platform: Platform) => {
  let slots: WatchedLimiter;
  beforeEach(() => {
    gate.current = new Gate();
    slots = new WatchedLimiter(2, 2);
  });
  afterEach(stopApps);

  const start = () =>
    startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          clock: new FakeClock(),
          policies: {
            three: { algorithm: 'fixedWindow', permitLimit: 3, windowMs: 60_000 },
            slots: slots.policy,
          },
        }),
      ],
      controllers: [AnswersController],
    });

  it('stand on the errors of the handler as well', async () => {
    const app = await start();
    const answers = [await app.get('/missing'), await app.get('/broken'), await app.get('/ok')];
    expect(answers.map(({ status, headers }) => [status, headers['ratelimit']])).toEqual([
      [404, '"three";r=2;t=60'],
      [500, '"three";r=1;t=60'],
      [200, '"three";r=0;t=60'],
    ]);
  });

  it('are each of its own moment, where several are asked at once', async () => {
    const app = await start();
    const answers = await Promise.all(['/ok', '/ok', '/ok'].map((path) => app.get(path)));
    const fields = answers.map(({ headers }) => String(headers['ratelimit']));
    expect(fields.sort()).toEqual(['"three";r=0;t=60', '"three";r=1;t=60', '"three";r=2;t=60']);
  });

  it('are those of the grant where a request waited', async () => {
    const app = await start();
    const first = app.open('/work');
    await eventually(() => slots.held === 1);
    const second = app.open('/work');
    await eventually(() => slots.held === 2);
    const queued = app.open('/work');
    await eventually(() => slots.queued === 1);
    gate.current.letOneThrough();
    await eventually(() => slots.queued === 0);
    gate.current.open();
    const remaining = await Promise.all(
      [first, second, queued].map(async ({ answer }) => (await answer).headers['ratelimit']),
    );
    expect(remaining).toEqual(['"slots";r=1', '"slots";r=0', '"slots";r=0']);
  });

  it('and its limits are a HEAD request’s as well: it is served, counted and refused like a GET', async () => {
    const app = await start();
    const head = (path: string) => app.send({ method: 'HEAD', path });
    expect((await head('/ok')).headers['ratelimit']).toBe('"three";r=2;t=60');
    expect((await app.get('/ok')).headers['ratelimit']).toBe('"three";r=1;t=60');
    expect((await head('/ok')).status).toBe(200);
    const refused = await head('/ok');
    expect([refused.status, refused.headers['retry-after'], refused.body]).toEqual([429, '60', '']);
    gate.current.open();
    expect((await head('/work')).status).toBe(200);
    await eventually(() => slots.held === 0);
  });
});
