import type { ModulesContainer } from '@nestjs/core';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import type { PolicyDefinition } from '../policies/policy-definition.js';
import type { NestModuleRecord } from '../policies/policy-instances.js';
import type { RateLimiterOptions } from './rate-limiter-options.js';
import { readOptions, SETTING_NAMES } from './settings.js';
import { FEATURE_POLICIES } from './tokens.js';

/** Policies of a feature module, by name. */
export type FeaturePolicies = ReadonlyMap<string, PolicyDefinition>;

/** Policies, and the module that named them: its classes of policies are made there. */
export interface Feature {
  readonly policies: FeaturePolicies;
  readonly host: NestModuleRecord;
}

const PLACE = 'RateLimitingModule.forFeature()';

/**
 * Checks what a user gave to `forFeature`.
 *
 * @throws RateLimitingConfigurationError - for anything but policies.
 */
export function readFeature(given: unknown): FeaturePolicies {
  const options = readOptions(PLACE, given);
  const other = SETTING_NAMES.find((name) => options[name as keyof RateLimiterOptions] !== undefined);
  if (other === undefined) return options.policies;
  throw new RateLimitingConfigurationError(
    'ERR_RL_UNKNOWN_OPTION',
    `${PLACE} takes policies only, but got ${other}. That belongs into RateLimitingModule.forRoot(), for the whole application.`,
  );
}

/** The feature policies of an application, each once. */
export function findFeatures(modules: ModulesContainer): Feature[] {
  const all = [...modules.values()];
  return all
    .filter((module) => module.providers.has(FEATURE_POLICIES))
    .map((module) => ({
      policies: module.getProviderByKey<FeaturePolicies>(FEATURE_POLICIES).instance,
      host: all.find(({ imports }) => imports.has(module)) ?? module,
    }));
}
