import { RateLimitPartition } from '@ratelease/limiters';
import { InvalidContextError, RateLimitingModule, RateLimitingService } from '@ratelease/nestjs';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const METHODS = ['acquire', 'getStatistics', 'reset'] as const;
const POLICIES = {
  options: { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000 },
  partitioner: () => RateLimitPartition.getNoLimiter('everybody'),
} as const;
const NO_CONTEXTS = [
  [undefined, 'undefined (undefined)'],
  [null, 'null (object)'],
  [{}, 'an object'],
  ['ann', '"ann"'],
] as const;

describe('RateLimitingService, given something else than a context', () => {
  afterEach(stopApps);

  it.each(METHODS)('says so, by an error with a code: %s()', async (method) => {
    const { app } = await startApp(PLATFORMS[0]!, {
      imports: [RateLimitingModule.forRoot({ policies: POLICIES })],
    });
    const service = app.get(RateLimitingService, { strict: false });
    for (const policy of Object.keys(POLICIES)) {
      for (const [given, shown] of NO_CONTEXTS) {
        // Without a context reset() is for all keys.
        if (method === 'reset' && given === undefined) continue;
        const asked = async (): Promise<unknown> => service[method](policy, given as never);
        const failed = await asked().catch((error: unknown) => error);
        expect(failed).toBeInstanceOf(InvalidContextError);
        expect(failed).toMatchObject({ code: 'ERR_RL_INVALID_ARGUMENT' });
        expect((failed as Error).message).toBe(
          `RateLimitingService.${method}() needs a RateLimitingContext, of RateLimitingService.createContext() or as ` +
            `policies receive it, but got ${shown}.`,
        );
      }
    }
  });

  it.each([null, 2, 'two'])('and than options: acquire(%p)', async (given) => {
    const { app } = await startApp(PLATFORMS[0]!, {
      imports: [RateLimitingModule.forRoot({ policies: POLICIES })],
    });
    const service = app.get(RateLimitingService, { strict: false });
    const asked = service.acquire('options', service.createContext(), given as never);
    await expect(asked).rejects.toThrow(InvalidContextError);
    await expect(asked).rejects.toThrow(
      'RateLimitingService.acquire() needs options such as { permitCount: 2 }, but got ',
    );
    expect(service.overview()[0]?.granted).toBe(0);
  });

  it.each([
    ['signal', 'an AbortSignal', [null, 5, {}, 'soon', new AbortController()]],
    ['maxWaitMs', 'a number of milliseconds of at least 0', [null, -1, NaN, '5']],
  ] as const)('and than what bounds a wait: acquire(… { %s })', async (option, needed, given) => {
    const { app } = await startApp(PLATFORMS[0]!, {
      imports: [RateLimitingModule.forRoot({ policies: POLICIES })],
    });
    const service = app.get(RateLimitingService, { strict: false });
    for (const value of given) {
      const asked = service.acquire('options', service.createContext(), { [option]: value });
      await expect(asked).rejects.toThrow(InvalidContextError);
      await expect(asked).rejects.toThrow(
        `RateLimitingService.acquire(): ${option} must be ${needed}, but got `,
      );
    }
    expect(service.overview()[0]?.granted).toBe(0);
  });

  it.each([
    [
      'createContext',
      'an object with what the key needs, such as { user } or { clientIp }',
      [null, 'ann', 7],
    ],
    ['explain', 'a message of a channel such as ratelease:refused', [undefined, null, 'ann', {}]],
  ] as const)('and than fields or an event: %s()', async (method, needed, given) => {
    const { app } = await startApp(PLATFORMS[0]!, {
      imports: [RateLimitingModule.forRoot({ policies: POLICIES })],
    });
    const service = app.get(RateLimitingService, { strict: false });
    for (const argument of given) {
      const ask = (): unknown => service[method](argument as never);
      expect(ask).toThrow(InvalidContextError);
      expect(ask).toThrow(`RateLimitingService.${method}() needs ${needed}, but got `);
    }
  });
});
