import { All, Controller, Get } from '@nestjs/common';
import { FakeClock } from '@ratelease/limiters/testing';
import type { AcquiredEvent, KeyFunction } from '@ratelease/nestjs';
import {
  EnableRateLimiting,
  RateLimitingModule,
  RateLimitingService,
  byHeader,
  byRoute,
} from '@ratelease/nestjs';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH'];

@Controller()
class RouteController {
  @All('hook')
  @EnableRateLimiting('few')
  hook(): string {
    return 'taken';
  }

  @Get('list')
  @EnableRateLimiting('few')
  list(): string {
    return 'listed';
  }
}

describe.each(PLATFORMS)('what a client may choose on $name', (platform) => {
  afterEach(stopApps);

  const start = (key: KeyFunction, globalPhase?: 'middleware') => {
    const few = { algorithm: 'fixedWindow', permitLimit: 3, windowMs: 60_000, key } as const;
    const global = globalPhase === undefined ? {} : { global: few, globalPhase };
    const policies = { few: globalPhase === undefined ? few : { ...few, permitLimit: 100 } };
    return startApp(platform, {
      imports: [RateLimitingModule.forRoot({ clock: new FakeClock(), policies, ...global })],
      controllers: [RouteController],
    });
  };

  it.each([undefined, 'middleware'] as const)(
    'makes no key of its own: the method of a request, where a route takes all, in the phase %s',
    async (phase) => {
      const app = await start(byRoute(), phase);
      const statuses: number[] = [];
      for (const method of METHODS) statuses.push((await app.send({ path: '/hook', method })).status);
      expect(statuses).toEqual([200, 200, 200, 429, 429, 429, 429]);
    },
  );

  it('makes no key that is as long as it likes', async () => {
    const app = await start(byHeader('x-api-key'));
    const service = app.app.get(RateLimitingService, { strict: false });
    const keys: string[] = [];
    const note = (event: unknown): void => {
      for (const { key } of service.explain(event as AcquiredEvent) ?? []) keys.push(String(key));
    };
    subscribe('ratelease:acquired', note);
    try {
      const ask = async (key: string) => (await app.get('/list', { 'x-api-key': key })).status;
      const long = 'x'.repeat(8_000);
      const statuses = [
        await ask(long),
        await ask(long),
        await ask(long),
        await ask(long),
        await ask(`${long}y`),
      ];
      expect(statuses).toEqual([200, 200, 200, 429, 200]);
    } finally {
      unsubscribe('ratelease:acquired', note);
    }
    expect(keys).toHaveLength(4);
    expect(Math.max(...keys.map(({ length }) => length))).toBeLessThan(300);
  });
});
