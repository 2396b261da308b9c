import type { DynamicModule, ModuleMetadata, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { checkKnown } from '../errors/check-known.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { shown } from '../errors/shown.js';
import { callMark } from './call-mark.js';
import { CORE_EXPORTS, CORE_PROVIDERS } from './core-providers.js';
import { injectedClasses, providersForOtherCopies } from './injected-classes.js';
import { lateFeature, readFeature } from './feature-policies.js';
import { RateLimitingFeatureModule } from './rate-limiting-feature.module.js';
import { RateLimitingCoreModule } from './rate-limiting-core.module.js';
import { RateLimitingEndModule } from './rate-limiting-end.module.js';
import type {
  ConfigureRateLimiting,
  RateLimitingAsyncOptions,
  RateLimitingFeatureOptions,
  RateLimitingOptionsFactory,
  RateLimitingRootOptions,
} from './rate-limiting-module-options.js';
import { readSettings } from './settings.js';
import { FEATURE_POLICIES, OPTIONS_FACTORY, SETTINGS } from './tokens.js';
import { MissingRoot } from '../warnings/missing-root.js';

const ROOT = 'RateLimitingModule.forRoot()';
const ROOT_ASYNC = 'RateLimitingModule.forRootAsync()';
const WAYS = ['useFactory', 'useClass', 'useExisting'] as const;
const ASYNC_OPTIONS = ['imports', 'inject', ...WAYS];

/**
 * Rate limiting for a Nest application. Configure it once, in the root module; it is global. A plain import of
 * this class elsewhere does nothing and does no harm.
 */
@Module({ providers: [MissingRoot] })
export class RateLimitingModule {
  /**
   * Configures rate limiting. Mistakes in the options stop the boot, not this call.
   *
   * @param options - an options object, or a callback that configures a {@link RateLimiterOptions}.
   * @param metadata - `imports` for the policy classes of a callback; an options object has them itself.
   */
  static forRoot(
    options: RateLimitingRootOptions | ConfigureRateLimiting = {},
    metadata: Pick<ModuleMetadata, 'imports'> = {},
  ): DynamicModule {
    const imports = [
      ...(metadata.imports ?? []),
      ...((options as RateLimitingRootOptions | null)?.imports ?? []),
    ];
    return rootModule(imports, [{ provide: SETTINGS, useFactory: () => readSettings(ROOT, options) }]);
  }

  /**
   * Configures rate limiting with options that need other providers.
   *
   * @param options - with one of `useFactory` (and `inject`), `useClass`, `useExisting`.
   * @throws RateLimitingConfigurationError `ERR_RL_MISSING_OPTIONS` - without exactly one of the three;
   * `ERR_RL_UNKNOWN_OPTION` - for a property that nobody reads.
   */
  static forRootAsync(options: RateLimitingAsyncOptions): DynamicModule {
    checkAsyncOptions(options);
    return rootModule([...(options.imports ?? [])], asyncProviders(options));
  }

  /**
   * Adds policies of a feature module; their names are the application's. A policy class that is nobody's provider
   * is made in the module that imports this, with the dependencies that live there.
   *
   * @param options - `policies` by name, or a callback that adds them; nothing else.
   */
  static forFeature(options: RateLimitingFeatureOptions | ConfigureRateLimiting): DynamicModule {
    const policies: Provider = { provide: FEATURE_POLICIES, useFactory: () => readFeature(options) };
    return { module: RateLimitingFeatureModule, providers: [callMark(), policies, lateFeature] };
  }
}

function rootModule(imports: NonNullable<ModuleMetadata['imports']>, settings: Provider[]): DynamicModule {
  const providers = [callMark(), ...settings, ...CORE_PROVIDERS];
  const core: DynamicModule = {
    module: RateLimitingCoreModule,
    global: true,
    imports: [...imports, RateLimitingEndModule],
    // Nest reads them when the application is made: by then every copy of this package is loaded that it may meet.
    get providers() {
      return [...providers, ...providersForOtherCopies()];
    },
    get exports() {
      return [...CORE_EXPORTS, ...injectedClasses()];
    },
  };
  return { module: RateLimitingModule, imports: [core] };
}

function checkAsyncOptions(options: RateLimitingAsyncOptions | undefined): void {
  if (typeof options === 'object' && (options as unknown) !== null)
    checkKnown(`${ROOT_ASYNC} got the unknown option`, options, ASYNC_OPTIONS);
  const ways = WAYS.filter((way) => options?.[way] !== undefined);
  if (ways.length === 1 && (ways[0] !== 'useFactory' || typeof options?.useFactory === 'function')) return;
  const got = ways.length === 1 ? `useFactory: ${shown(options?.useFactory)}` : ways.join(' and ');
  throw new RateLimitingConfigurationError(
    'ERR_RL_MISSING_OPTIONS',
    `${ROOT_ASYNC} needs one of useFactory (a function), useClass and useExisting, but got ${got === '' ? 'none' : got}.`,
  );
}

function asyncProviders(options: RateLimitingAsyncOptions): Provider[] {
  const { inject, useFactory, useClass, useExisting } = options;
  if (useFactory !== undefined) {
    const make = async (...dependencies: unknown[]): Promise<unknown> =>
      readSettings(ROOT_ASYNC, await useFactory(...dependencies), false);
    return [{ provide: SETTINGS, inject: inject ?? [], useFactory: make }];
  }
  const make = async (factory: Partial<RateLimitingOptionsFactory>): Promise<unknown> => {
    if (typeof factory.createRateLimitingOptions === 'function') {
      return readSettings(ROOT_ASYNC, await factory.createRateLimitingOptions(), false);
    }
    throw new RateLimitingConfigurationError(
      'ERR_RL_MISSING_OPTIONS',
      `${ROOT_ASYNC}: ${shown(factory)} lacks the method createRateLimitingOptions(). See RateLimitingOptionsFactory.`,
    );
  };
  const settings: Provider = {
    provide: SETTINGS,
    inject: [useExisting ?? OPTIONS_FACTORY],
    useFactory: make,
  };
  return useClass === undefined ? [settings] : [{ provide: OPTIONS_FACTORY, useClass }, settings];
}
