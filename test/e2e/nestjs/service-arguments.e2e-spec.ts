import { RateLimitPartition } from '@ratelease/limiters';
import { InvalidContextError, RateLimitingModule, RateLimitingService } from '@ratelease/nestjs';
import { PLATFORMS, startApp, stopApps } from './test-app.js';

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
});
