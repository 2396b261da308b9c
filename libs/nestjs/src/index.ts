export type {
  ApplicationValue,
  RateLimitingContext,
  RateLimitingContextType,
} from './context/rate-limiting-context.js';
export type {
  ConcurrencyLimitOptions,
  RateLimitable,
  RejectionMessage,
} from './decorators/concurrency-limit.js';
export { ConcurrencyLimit, ConcurrencyLimit as RateLimit } from './decorators/concurrency-limit.js';
export { DisableRateLimiting } from './decorators/disable-rate-limiting.js';
export type {
  EnableRateLimitingOptions,
  EndpointOptions,
  EnforcementPhase,
  PolicyReference,
} from './decorators/enable-rate-limiting.js';
export { EnableRateLimiting } from './decorators/enable-rate-limiting.js';
export { RateLimitingGuard } from './enforcement/rate-limiting.guard.js';
export { RateLimitingInterceptor } from './enforcement/rate-limiting.interceptor.js';
export { InvalidContextError } from './errors/invalid-context-error.js';
export { InvalidDecisionError } from './errors/invalid-decision-error.js';
export { MissingKeyError } from './errors/missing-key-error.js';
export type { RateLimitingErrorCode } from './errors/rate-limiting-configuration-error.js';
export { RateLimitingConfigurationError } from './errors/rate-limiting-configuration-error.js';
export type { ProblemDetails } from './http/problem-details.js';
export { RATE_LIMIT_HEADERS } from './http/rate-limit-fields.js';
export { byClient } from './keys/by-client.js';
export { byHeader } from './keys/by-header.js';
export { byRoute } from './keys/by-route.js';
export type { ByUserOptions } from './keys/by-user.js';
export { byUser } from './keys/by-user.js';
export { compositeKey } from './keys/composite-key.js';
export type { KeyFunction, KeyValue, SpacedKeyFunction } from './keys/key-function.js';
export { RateLimiterOptions } from './module/rate-limiter-options.js';
export type {
  ConfigureRateLimiting,
  EndpointBinding,
  GlobalPhase,
  ProvidedOptions,
  RateLimitingAsyncOptions,
  RateLimitingFeatureOptions,
  RateLimitingModuleOptions,
  RateLimitingOptionsFactory,
  RateLimitingRootOptions,
  RateLimitingSettings,
} from './module/rate-limiting-module-options.js';
export { RateLimitingModule } from './module/rate-limiting.module.js';
export { AdditionalLimits } from './policies/additional-limits.js';
export { DelegatedRateLimiterPolicy } from './policies/delegated-rate-limiter-policy.js';
export type { AlgorithmName, AlgorithmNumbers } from './policies/limiter-numbers.js';
export type { PolicyClass, PolicyDefinition, PolicyInstance } from './policies/policy-definition.js';
export type { PolicyName, RateLimitingPolicies } from './policies/policy-names.js';
export type { PartitionTraits, PolicyTraits, WhenFailing } from './policies/policy-traits.js';
export type { PolicyOptions } from './policies/policy-options.js';
export type { IRateLimiterPolicy, PartitionChoice, Partitioner } from './policies/rate-limiter-policy.js';
export type { SelectivePolicyOptions } from './policies/selective-rate-limiter-policy.js';
export { SelectiveRateLimiterPolicy } from './policies/selective-rate-limiter-policy.js';
export type { OnRejected } from './rejection/on-rejected.js';
export type { Rejection, RejectionBody, RejectionReason } from './rejection/rate-limit-rejected.exception.js';
export { RateLimitRejectedException } from './rejection/rate-limit-rejected.exception.js';
export type { ServiceAcquireOptions } from './service/acquire-options.js';
export type { ContextFields } from './service/context-fields.js';
export type { PolicyDetail } from './service/policy-detail.js';
export type { PolicyOverview } from './service/policy-overview.js';
export type { PolicyChanges, ServicePolicyName } from './service/rate-limiting.service.js';
export { RateLimitingService } from './service/rate-limiting.service.js';
export type {
  AcquiredEvent,
  CanceledEvent,
  FailedEvent,
  QueuedEvent,
  RateLimitingEvent,
  RefusedEvent,
  ReleasedEvent,
} from './visibility/events.js';
export { resetRateLimiting } from './testing/reset-rate-limiting.js';
