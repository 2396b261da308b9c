import { Module } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { SETTINGS } from './tokens.js';

/** Carries the policies of a feature module to the application's registry. */
@Module({})
export class RateLimitingFeatureModule {
  constructor(modules: ModulesContainer) {
    if ([...modules.values()].some(({ providers }) => providers.has(SETTINGS))) return;
    throw new RateLimitingConfigurationError(
      'ERR_RL_MISSING_OPTIONS',
      'RateLimitingModule.forFeature() adds policies to an application that has none: import ' +
        'RateLimitingModule.forRoot() in the root module.',
    );
  }
}
