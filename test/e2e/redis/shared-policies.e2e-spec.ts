import { Controller, Get, Inject, Injectable, Logger } from '@nestjs/common';
import type { AsyncRateLimiter, RateLimitPartition } from '@ratelease/limiters';
import type { IRateLimiterPolicy, RateLimitingContext } from '@ratelease/nestjs';
import { EnableRateLimiting, RateLimitingModule, RateLimitingService } from '@ratelease/nestjs';
import { RedisPartitions } from '@ratelease/redis';
import { RedisRateLimitingModule } from '@ratelease/redis/nestjs';
import { TestServer } from '../../redis/test-server.js';
import { scriptCalls } from '../../redis/script-calls.js';
import { Gate } from '../nestjs/fixtures/gate.js';
import { PLATFORMS, startApp, stopApps } from '../nestjs/fixtures/test-app.js';

const userOf = (context: RateLimitingContext): string =>
  (context.request as { headers: Record<string, string> }).headers['x-user'] ?? 'nobody';

const permitLimit = { current: 3 };

@Injectable()
class PerUserPolicy implements IRateLimiterPolicy<string> {
  constructor(@Inject(RedisPartitions) private readonly shared: RedisPartitions) {}

  getPartition(context: RateLimitingContext): RateLimitPartition<string, AsyncRateLimiter> {
    return this.shared.getFixedWindowLimiter(userOf(context), () => ({
      permitLimit: permitLimit.current,
      windowMs: 3_600_000,
    }));
  }
}

@Injectable()
class SlotsPolicy implements IRateLimiterPolicy<string> {
  constructor(@Inject(RedisPartitions) private readonly shared: RedisPartitions) {}

  getPartition(context: RateLimitingContext): RateLimitPartition<string, AsyncRateLimiter> {
    return this.shared.getConcurrencyLimiter(userOf(context), () => ({ permitLimit: 5, queueLimit: 5 }));
  }
}

const gate = { current: new Gate() };

@Controller()
class ReportsController {
  @Get('held')
  @EnableRateLimiting('slots')
  async held(): Promise<string> {
    await gate.current.pass();
    return 'ok';
  }

  @Get('report')
  @EnableRateLimiting(['perUser', 'slots'])
  report(): string {
    return 'ok';
  }
}

const server = TestServer.forThisFile();
afterEach(stopApps);

describe.each(PLATFORMS)('on $name', (platform) => {
  const parts = {
    controllers: [ReportsController],
    imports: [
      RedisRateLimitingModule.forRootAsync({
        useFactory: () => ({ client: server.client, commandTimeoutMs: 2_000 }),
      }),
      RateLimitingModule.forRoot({ policies: { perUser: PerUserPolicy, slots: SlotsPolicy } }),
    ],
  };
  const user = { 'x-user': `ann-${platform.name}` };

  it('counts for two applications together, and names the state after the policy', async () => {
    const [one, other] = [await startApp(platform, parts), await startApp(platform, parts)];
    expect(await one.statuses('/report', 2, user)).toEqual([200, 200]);
    expect(await other.statuses('/report', 2, user)).toEqual([200, 429]);
    const answer = await one.get('/report', user);
    expect(answer.status).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(3_000);
    expect(answer.headers['ratelimit']).toContain('"perUser";r=0');
    const fields = await server.client.hkeys(`ratelease:v1:{ann-${platform.name}}`);
    expect(fields).toContain('perUser:fixedWindow:u');
    expect(fields).toContain('slots:concurrency:u');
  });

  it('takes new numbers of a policy while it is in use, and keeps what is spent', async () => {
    const app = await startApp(platform, parts);
    const visitor = { 'x-user': `eve-${platform.name}` };
    expect(await app.statuses('/report', 4, visitor)).toEqual([200, 200, 200, 429]);
    permitLimit.current = 5;
    app.app.get(RateLimitingService).refreshPolicies('perUser');
    expect(await app.statuses('/report', 3, visitor)).toEqual([200, 200, 429]);
    permitLimit.current = 3;
  });

  it('does not claim to have reset what other processes count as well', async () => {
    const app = await startApp(platform, parts);
    const visitor = { 'x-user': `gil-${platform.name}` };
    expect(await app.statuses('/report', 4, visitor)).toEqual([200, 200, 200, 429]);
    const service = app.app.get(RateLimitingService);
    const reset = (context?: RateLimitingContext): unknown => service.reset('perUser', context);
    const refusal = expect.objectContaining({
      code: 'ERR_RL_NOT_RESETTABLE',
      message:
        'Policy "perUser" counts in Redis (prefix "ratelease"), for other processes too: this one can\'t make it forget. ' +
        'Delete the keys there.',
    });
    expect(() => reset()).toThrow(refusal);
    expect(() => reset(service.createContext({ headers: visitor }))).toThrow(refusal);
    await service.reset();
    expect((await app.get('/report', visitor)).status).toBe(429);
    await server.client.del(`ratelease:v1:{${visitor['x-user']}}`);
    expect((await app.get('/report', visitor)).status).toBe(200);
  });

  it('says in the log which policies count there', async () => {
    const log = jest.spyOn(Logger.prototype, 'log').mockImplementation();
    const app = await startApp(platform, parts);
    await app.get('/report', { 'x-user': `fay-${platform.name}` });
    expect(log.mock.calls.flat()).toEqual(
      expect.arrayContaining([
        'Policy "perUser" counts in Redis (prefix "ratelease").',
        'Policy "slots" counts in Redis (prefix "ratelease").',
      ]),
    );
    log.mockRestore();
  });

  it('decides both policies of a request in one call', async () => {
    const app = await startApp(platform, parts);
    const visitor = { 'x-user': `cleo-${platform.name}` };
    // The scripts are known from the first request on.
    await app.get('/report', visitor);
    await released(`cleo-${platform.name}`);
    const before = await scriptCalls(server.client);
    expect((await app.get('/report', visitor)).status).toBe(200);
    await released(`cleo-${platform.name}`);
    // One decides, one gives the lease back.
    expect((await scriptCalls(server.client)) - before).toBe(2);
  });

  it('holds the leases of two applications as long as their responses last', async () => {
    gate.current = new Gate();
    const apps = [await startApp(platform, parts), await startApp(platform, parts)];
    const visitor = { 'x-user': `dan-${platform.name}` };
    const answers = Array.from({ length: 11 }, (_, index) => apps[index % 2]!.get('/held', visitor));
    // Five work, five wait, and there is no room for one.
    const refused = await Promise.race(answers);
    expect(refused.status).toBe(429);
    while (gate.current.arrivals < 5) await new Promise((resolve) => setImmediate(resolve));
    expect(gate.current.arrivals).toBe(5);
    gate.current.open();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array<number>(10).fill(200), 429]);
    await released(`dan-${platform.name}`);
  });

  it('gives back what it holds when it closes', async () => {
    const app = await startApp(platform, parts);
    const shared = app.app.get(RedisPartitions);
    const partition = shared.getConcurrencyLimiter(`eve-${platform.name}`, () => ({ permitLimit: 3 }));
    const limiter = partition.factory(partition.partitionKey);
    const leases = await Promise.all([1, 2, 3].map(() => limiter.acquire()));
    expect(leases.every((lease) => lease.isAcquired)).toBe(true);
    const beganMs = performance.now();
    await app.app.close();
    expect(performance.now() - beganMs).toBeLessThan(10_000);
    expect(await server.client.keys(`ratelease:v1:{eve-${platform.name}}:*`)).toEqual([]);
  });

  it('tells the lack of a store apart from a limit', async () => {
    const app = await startApp(platform, parts);
    const visitor = { 'x-user': `bob-${platform.name}` };
    server.pause();
    const answer = await app.get('/report', visitor);
    server.resume();
    expect(answer.status).toBe(503);
    expect((await eventually(() => app.get('/report', visitor))).status).toBe(200);
  });
});

/** Resolves when nobody holds a lease of the key any more. */
async function released(key: string): Promise<void> {
  while ((await server.client.keys(`ratelease:v1:{${key}}:*leases`)).length > 0);
}

/** Asks until the answer is no 503. */
async function eventually<T extends { status: number }>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
  }
}
