import type { Type } from '@nestjs/common';
import { Controller, Get } from '@nestjs/common';
import type { EndpointBinding, RateLimitingModuleOptions } from '@ratelease/nestjs';
import { DisableRateLimiting, EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import { bootError, PLATFORMS, stopApps } from '../fixtures/test-app.js';

const burst = { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000 } as const;

function boot(
  controller: Type,
  endpoints: EndpointBinding[] = [],
  options: RateLimitingModuleOptions = {},
): Promise<Error & { code?: string }> {
  return bootError(PLATFORMS[0]!, {
    imports: [RateLimitingModule.forRoot({ policies: { burst }, endpoints, ...options })],
    controllers: [controller],
  });
}

describe('the boot', () => {
  afterEach(stopApps);

  it('stops where an unknown policy is disabled, or one that a method enables again', async () => {
    @Controller()
    class MisspeltController {
      @Get() @DisableRateLimiting('brust') get(): string {
        return 'never';
      }
    }
    @Controller()
    @DisableRateLimiting('burst')
    class ContradictoryController {
      @Get() @EnableRateLimiting(['burst']) get(): string {
        return 'never';
      }
    }
    @Controller()
    class PlainController {
      @Get() get(): string {
        return 'never';
      }
    }
    const unknown = await boot(MisspeltController);
    expect([unknown.code, unknown.message]).toEqual([
      'ERR_RL_UNKNOWN_POLICY',
      expect.stringMatching(/MisspeltController\.get.*"brust".*"burst"/),
    ]);
    const contradictory = await boot(ContradictoryController);
    expect(contradictory.code).toBe('ERR_RL_ENABLED_INSIDE_DISABLED');
    const withoutGlobal = await boot(PlainController, [{ controller: PlainController, disabled: 'global' }]);
    expect([withoutGlobal.code, withoutGlobal.message]).toEqual([
      'ERR_RL_UNKNOWN_POLICY',
      expect.stringMatching(/^PlainController\.get names "global".* the option global\.$/),
    ]);
    const named = await boot(PlainController, [{ controller: PlainController, policies: 'global' }], {
      global: burst,
    });
    expect([named.code, named.message]).toEqual([
      'ERR_RL_UNKNOWN_POLICY',
      expect.stringMatching(/^PlainController\.get names "global".* without being named\.$/),
    ]);
    expect(() => DisableRateLimiting(7 as never)).toThrow(
      expect.objectContaining({ code: 'ERR_RL_INVALID_POLICY' }),
    );
  });

  it('stops where an heir of a disabled class enables a method', async () => {
    @DisableRateLimiting()
    class DisabledController {}
    @Controller()
    class HeirController extends DisabledController {
      @Get() @EnableRateLimiting('burst') get(): string {
        return 'never';
      }
    }
    const error = await boot(HeirController);
    expect([error.code, error.message]).toEqual([
      'ERR_RL_ENABLED_INSIDE_DISABLED',
      expect.stringMatching(/^HeirController\.get /),
    ]);
  });
});
