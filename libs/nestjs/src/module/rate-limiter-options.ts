import type { Clock } from '@ratelease/limiters';
import type { EndpointBinding, GlobalPhase, RateLimitingSettings } from './rate-limiting-module-options.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { shown } from '../errors/shown.js';
import type { AlgorithmName, AlgorithmNumbers } from '../policies/limiter-numbers.js';
import type { PolicyDefinition } from '../policies/policy-definition.js';
import type { PolicyName } from '../policies/policy-names.js';
import type { PolicyOptions } from '../policies/policy-options.js';
import type { WhenFailing } from '../policies/policy-traits.js';
import { GLOBAL } from '../policies/policy-set.js';
import type { OnRejected } from '../rejection/on-rejected.js';

/** The module's options, built step by step: what `forRoot((options) => …)` is called with. */
export class RateLimiterOptions implements RateLimitingSettings {
  /** A limit on everything that is not disabled. */
  global: PolicyDefinition | undefined = undefined;
  /** When the global limiter is asked: with the endpoint's policies by default. */
  globalPhase: GlobalPhase | undefined = undefined;
  /** The status of a refusal. */
  rejectionStatusCode: number | undefined = undefined;
  /** Called for refused requests, where the policy has no callback of its own. */
  onRejected: OnRejected | undefined = undefined;
  /** Policies for code that isn't yours. */
  endpoints: readonly EndpointBinding[] | undefined = undefined;
  /** `false`: the guard and the interceptor are bound by the application. */
  bind: boolean | undefined = undefined;
  /** The source of time of all limiters. */
  clock: Clock | undefined = undefined;
  /** Bits of an IPv6 address that make a client. */
  ipv6SubnetPrefix: number | undefined = undefined;
  /** The most requests that may wait at once. */
  maxQueuedRequests: number | undefined = undefined;

  /** The longest that a request may hold permits. */
  maxHoldMs: number | undefined = undefined;
  /** The most keys of a policy. */
  maxPartitions: number | undefined = undefined;
  /** What becomes of a request whose limit fails. */
  whenFailing: WhenFailing | undefined = undefined;
  /** Whether log lines name keys. */
  logKeys: 'hashed' | undefined = undefined;
  /** Also the older `X-RateLimit-…` fields. */
  legacyHeaders: boolean | undefined = undefined;
  /** Have CORS expose the fields. */
  exposeHeaders: boolean | undefined = undefined;
  /** Problem details for everybody. */
  problemDetails: boolean | undefined = undefined;
  /** Spreads `Retry-After`. */
  retryAfterJitter: number | undefined = undefined;
  /** Whether CORS preflights count. */
  countPreflights: boolean | undefined = undefined;
  /** `false`: nothing is limited. */
  enabled: boolean | undefined = undefined;

  readonly #policies = new Map<string, PolicyDefinition>();

  /** The policies so far, by name. */
  get policies(): ReadonlyMap<string, PolicyDefinition> {
    return this.#policies;
  }

  /**
   * Adds a policy in any of its forms.
   *
   * @param name - names are compared exactly.
   * @throws RateLimitingConfigurationError `ERR_RL_DUPLICATE_POLICY` - when the name is taken, or
   * `global`;
   * `ERR_RL_INVALID_POLICY` - when the name is no text, or the policy is missing.
   */
  addPolicy(name: PolicyName, policy: PolicyDefinition): this {
    if (typeof name !== 'string') {
      throw new RateLimitingConfigurationError(
        'ERR_RL_INVALID_POLICY',
        `The name of a policy must be a text, but got ${shown(name)}.`,
      );
    }
    if (this.#policies.has(name)) {
      throw new RateLimitingConfigurationError(
        'ERR_RL_DUPLICATE_POLICY',
        `There is already a policy ${JSON.stringify(name)}. Give each policy a name of its own.`,
      );
    }
    if (name === GLOBAL) {
      throw new RateLimitingConfigurationError(
        'ERR_RL_DUPLICATE_POLICY',
        `The name ${JSON.stringify(name)} is the global limiter's, in exceptions and response fields. Give the policy another name.`,
      );
    }
    if (policy === undefined || policy === null) {
      throw new RateLimitingConfigurationError(
        'ERR_RL_INVALID_POLICY',
        `Policy ${JSON.stringify(name)} is ${String(policy)}. Give an options object, a partitioner, a policy or a policy class.`,
      );
    }
    this.#policies.set(name, policy);
    return this;
  }

  /** Adds a policy of one fixed window that everybody shares. */
  addFixedWindowLimiter(name: PolicyName, options: AlgorithmNumbers['fixedWindow']): this {
    return this.#addShared(name, 'fixedWindow', options);
  }

  /** Adds a policy of one sliding window that everybody shares. */
  addSlidingWindowLimiter(name: PolicyName, options: AlgorithmNumbers['slidingWindow']): this {
    return this.#addShared(name, 'slidingWindow', options);
  }

  /** Adds a policy of one token bucket that everybody shares. */
  addTokenBucketLimiter(name: PolicyName, options: AlgorithmNumbers['tokenBucket']): this {
    return this.#addShared(name, 'tokenBucket', options);
  }

  /** Adds a policy of one concurrency limiter that everybody shares. */
  addConcurrencyLimiter(name: PolicyName, options: AlgorithmNumbers['concurrency']): this {
    return this.#addShared(name, 'concurrency', options);
  }

  #addShared(name: PolicyName, algorithm: AlgorithmName, numbers: object): this {
    const other = (numbers as { algorithm?: unknown } | undefined)?.algorithm;
    if (other !== undefined && other !== algorithm) {
      throw new RateLimitingConfigurationError(
        'ERR_RL_INVALID_OPTION',
        `Policy ${JSON.stringify(name)}: algorithm is ${shown(other)}, but the method that adds it makes a ${algorithm} limiter.`,
      );
    }
    return this.addPolicy(name, { ...numbers, algorithm } as PolicyOptions);
  }
}
