import { Controller, Get } from '@nestjs/common';
import { EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import { countSignals } from '../fixtures/count-signals.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

/** What isn't typed answers with all kinds of things: a header that isn't there, the match of a pattern. */
const loose = (answer: unknown) => (): boolean => answer as boolean;

@Controller()
class LooseController {
  @Get('undefined')
  @EnableRateLimiting('rate', { when: loose(undefined) })
  undefined(): string {
    return 'undefined';
  }

  @Get('null')
  @EnableRateLimiting('rate', { when: loose(null) })
  null(): string {
    return 'null';
  }

  @Get('promised-undefined')
  @EnableRateLimiting('rate', { when: loose(Promise.resolve(undefined)) })
  promisedUndefined(): string {
    return 'promised undefined';
  }

  @Get('thenable-null')
  // oxlint-disable-next-line unicorn/no-thenable -- as query builders are
  @EnableRateLimiting('rate', { when: loose({ then: (resolve: (answer: null) => void) => resolve(null) }) })
  thenableNull(): string {
    return 'thenable null';
  }

  @Get('object')
  @EnableRateLimiting('rate', { when: loose({}) })
  object(): string {
    return 'object';
  }
}

@Controller()
class ConditionalController {
  @Get('limited')
  @EnableRateLimiting('rate', { when: () => true, permitCount: () => 2 })
  limited(): string {
    return 'limited';
  }

  @Get('exempt')
  @EnableRateLimiting('rate', { when: () => false })
  exempt(): string {
    return 'exempt';
  }

  @Get('promised')
  @EnableRateLimiting('rate', { when: async () => true })
  promised(): string {
    return 'promised';
  }
}

describe.each(PLATFORMS)('a condition on $name', (platform) => {
  afterEach(stopApps);

  it('that answers at once, as a number of permits, prepares no wait for its answer', async () => {
    const app = await startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          policies: { rate: { algorithm: 'fixedWindow', permitLimit: 3, windowMs: 60_000 } },
        }),
      ],
      controllers: [ConditionalController],
    });
    const statuses: number[] = [];
    const signals = async (path: string): Promise<number> =>
      countSignals(async () => void statuses.push((await app.get(path)).status));
    expect(await signals('/limited')).toBe(0);
    expect(await signals('/exempt')).toBe(0);
    expect(await signals('/promised')).toBeGreaterThan(0);
    expect(await signals('/limited')).toBe(0);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });

  it.each(['undefined', 'null', 'promised-undefined', 'thenable-null'])(
    'says no with nothing, at once as in time: %s',
    async (nothing) => {
      const app = await startApp(platform, {
        imports: [
          RateLimitingModule.forRoot({
            policies: { rate: { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000 } },
          }),
        ],
        controllers: [LooseController],
      });
      const statuses: number[] = [];
      for (const path of ['object', nothing, 'object']) statuses.push((await app.get(`/${path}`)).status);
      expect(statuses).toEqual([200, 200, 429]);
    },
  );
});
