import type { Provider } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import type { PolicyDefinition } from '../policies/policy-definition.js';
import type { NestModuleRecord } from '../policies/policy-instances.js';
import type { Boot } from './boot.js';
import type { RateLimiterOptions } from './rate-limiter-options.js';
import { readOptions, SETTING_NAMES } from './settings.js';
import { BOOT, FEATURE_POLICIES, LATE_FEATURE } from './tokens.js';

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

/** The feature policies of an application, each once, as far as they have been made. */
export function findFeatures(modules: ModulesContainer): Feature[] {
  const all = [...modules.values()];
  return all.flatMap((module) => {
    const policies = module.providers.get(FEATURE_POLICIES)?.instance as FeaturePolicies | null | undefined;
    const host = all.find(({ imports }) => imports.has(module)) ?? module;
    return policies == null ? [] : [{ policies, host }];
  });
}

/** Tells the boot of a feature module that comes when the boot has begun. Nest waits for it, and hears of mistakes. */
export const lateFeature: Provider = {
  provide: LATE_FEATURE,
  // Without forRoot() there is no boot: the module itself says so.
  inject: [FEATURE_POLICIES, { token: BOOT, optional: true }],
  useFactory: (_policies: FeaturePolicies, boot: Partial<Boot> | undefined) => boot?.addLateFeatures?.(),
};
