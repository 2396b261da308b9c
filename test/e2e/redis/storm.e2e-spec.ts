import { Controller, Get, Inject, Injectable } from '@nestjs/common';
import type { AsyncRateLimiter, RateLimitPartition } from '@ratelease/limiters';
import type { IRateLimiterPolicy } from '@ratelease/nestjs';
import { EnableRateLimiting, RateLimitingModule, RateLimitingService } from '@ratelease/nestjs';
import { RedisPartitions } from '@ratelease/redis';
import { RedisRateLimitingModule } from '@ratelease/redis/nestjs';
import { request } from 'node:http';
import { setTimeout as after } from 'node:timers/promises';
import { TestServer } from '../../redis/test-server.js';
import { PLATFORMS, startApp, stopApps } from '../nestjs/fixtures/test-app.js';
import type { TestApp } from '../nestjs/fixtures/test-app.js';

const LIMIT = 4;
const CLIENTS = 24;
const REQUESTS_OF_A_CLIENT = 20;
const work = { running: 0, most: 0, begun: 0 };

@Injectable()
class SlotsPolicy implements IRateLimiterPolicy<string> {
  constructor(@Inject(RedisPartitions) private readonly shared: RedisPartitions) {}

  getPartition(): RateLimitPartition<string, AsyncRateLimiter> {
    return this.shared.getConcurrencyLimiter('all', () => ({ permitLimit: LIMIT, queueLimit: 1_000 }));
  }
}

@Injectable()
class RatePolicy implements IRateLimiterPolicy<string> {
  constructor(@Inject(RedisPartitions) private readonly shared: RedisPartitions) {}

  getPartition(): RateLimitPartition<string, AsyncRateLimiter> {
    return this.shared.getFixedWindowLimiter('all', () => ({ permitLimit: 1_000_000, windowMs: 3_600_000 }));
  }
}

@Controller()
class WorkController {
  @Get('work')
  @EnableRateLimiting(['slots', 'rate'])
  async work(): Promise<string> {
    work.begun++;
    work.most = Math.max(work.most, ++work.running);
    try {
      await after(Math.random() * 4);
      if (Math.random() < 0.1) throw new Error('Some work fails.');
      return 'ok';
    } finally {
      work.running--;
    }
  }
}

const server = TestServer.forThisFile();
afterEach(stopApps);

/** A request whose client may leave before the answer is there. Resolves when it is over for the client. */
function ask(port: number, leaveAfterMs?: number): Promise<void> {
  return new Promise((resolve) => {
    const question = request({ port, host: '127.0.0.1', path: '/work', agent: false }, (response) => {
      response.resume().once('close', resolve);
    });
    question.once('error', () => resolve());
    if (leaveAfterMs !== undefined) setTimeout(() => question.destroy(), leaveAfterMs);
    question.end();
  });
}

/** Clients that send one request after the other, now to this application, now to that, and leave half of them. */
async function storm(apps: readonly TestApp[]): Promise<void> {
  const client = async (number: number): Promise<void> => {
    for (let sent = 0; sent < REQUESTS_OF_A_CLIENT; sent++) {
      await ask(apps[(number + sent) % 2]!.port, Math.random() < 0.5 ? Math.random() * 60 : undefined);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  for (const app of apps) await app.isDeserted();
}

/** Stops the server for longer than a command may take, again and again, until the other promise is kept. */
async function pausing(during: Promise<void>): Promise<void> {
  let isOver = false;
  const end = during.finally(() => (isOver = true));
  while (!isOver) {
    await after(150);
    server.pause();
    await after(250);
    server.resume();
  }
  return end;
}

describe.each(PLATFORMS)('on $name', (platform) => {
  it.each(['answers', 'pauses'])(
    'permits survive a storm of clients that leave, while the server %s',
    async (what) => {
      Object.assign(work, { running: 0, most: 0, begun: 0 });
      const prefix = `${platform.name}-${what}`;
      const parts = {
        controllers: [WorkController],
        imports: [
          RedisRateLimitingModule.forRootAsync({
            useFactory: () => ({ client: server.client, prefix, commandTimeoutMs: 100 }),
          }),
          RateLimitingModule.forRoot({ policies: { slots: SlotsPolicy, rate: RatePolicy } }),
        ],
      };
      const apps = [await startApp(platform, parts), await startApp(platform, parts)];
      await (what === 'pauses' ? pausing(storm(apps)) : storm(apps));

      // Nobody is left who holds or waits; a lease of a lost answer would only leave with its time to live.
      while (work.running > 0 || (await server.client.keys(`${prefix}:*leases`)).length > 0) await after(1);
      const state = await server.client.hgetall(`${prefix}:v1:{all}`);
      expect(state).toMatchObject({ 'slots:concurrency:u': '0', 'slots:concurrency:q': '0' });
      expect(work.most).toBeGreaterThan(0);
      expect(work.most).toBeLessThanOrEqual(LIMIT);
      // Whoever was refused, or left before its turn, is charged nothing; work that has begun is, exactly once.
      const granted = apps
        .flatMap(({ app }) => app.get(RateLimitingService).overview())
        .filter(({ policy }) => policy === 'rate')
        .reduce((sum, { granted: count }) => sum + count, 0);
      const charged = async (): Promise<number> =>
        Number(await server.client.hget(`${prefix}:v1:{all}`, 'rate:fixedWindow:u'));
      while ((await charged()) > granted) await after(1);
      expect(await charged()).toBe(granted);
      expect(granted).toBeGreaterThanOrEqual(work.begun);
    },
  );
});
