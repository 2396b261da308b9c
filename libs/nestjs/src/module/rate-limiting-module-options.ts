import type { ModuleMetadata, Provider, Type } from '@nestjs/common';
import type { Clock } from '@ratelease/limiters';
import type { EndpointOptions, PolicyReference } from '../decorators/enable-rate-limiting.js';
import type { PolicyDefinition } from '../policies/policy-definition.js';
import type { PolicyName } from '../policies/policy-names.js';
import type { WhenFailing } from '../policies/policy-traits.js';
import type { OnRejected } from '../rejection/on-rejected.js';
import type { RateLimiterOptions } from './rate-limiter-options.js';

/** Binds policies to code that can't be decorated. It stands for the decorator on the same class or method. */
export interface EndpointBinding extends EndpointOptions {
  /** A controller of the application. */
  readonly controller: Type;
  /** The name of a method; without it the binding is for the class. */
  readonly handler?: string | undefined;
  /** As in `@EnableRateLimiting()`. */
  readonly policies?: PolicyReference | readonly PolicyReference[] | undefined;
  /** `true`: as `@DisableRateLimiting()`; policies: as that with these. */
  readonly disabled?: boolean | PolicyReference | readonly PolicyReference[] | undefined;
}

/** The phases in which the global limiter can be asked by itself. */
export type GlobalPhase = 'guard' | 'middleware';

/** What is set by properties, in an options object as well as on {@link RateLimiterOptions}. */
export interface RateLimitingSettings {
  /** A limit on everything that is not disabled, in any form that a policy has. */
  global?: PolicyDefinition | undefined;
  /**
   * When the global limiter is asked: together with the endpoint's policies by default; `'guard'` before later
   * guards, so that refused logins count; `'middleware'` before routing, so that everything counts, 404 too.
   */
  globalPhase?: GlobalPhase | undefined;
  /** The status of a refusal, 400 to 599. @defaultValue 429 */
  rejectionStatusCode?: number | undefined;
  /** Called for refused requests, where the policy has no callback of its own. */
  onRejected?: OnRejected | undefined;
  /** Policies for code that isn't yours. */
  endpoints?: readonly EndpointBinding[] | undefined;
  /** `false`: bind `RateLimitingGuard` and `RateLimitingInterceptor` yourself. @defaultValue true */
  bind?: boolean | undefined;
  /** The source of time of all limiters. @defaultValue the monotonic clock of the process */
  clock?: Clock | undefined;
  /** Bits of an IPv6 address that make a client, an integer from 32 to 128. @defaultValue 64 */
  ipv6SubnetPrefix?: number | undefined;
  /** The most requests that may wait for permits at once, an integer of at least 0. @defaultValue 10,000 */
  maxQueuedRequests?: number | undefined;
  /**
   * The longest time in milliseconds, above 0, that a request may hold permits, for handlers that never end and
   * clients that stop reading. Then they go back, and the request goes on without. @defaultValue no limit
   */
  maxHoldMs?: number | undefined;
  /**
   * The most keys that a policy may have at a time, where it doesn't say so itself: an integer of at least 1. At the
   * cap requests with new keys are refused, and the log warns. @defaultValue 1,000,000
   */
  maxPartitions?: number | undefined;
  /**
   * What becomes of a request where asking for its permits fails, where the policy doesn't say so itself; see
   * {@link WhenFailing}. @defaultValue `'deny'`
   */
  whenFailing?: WhenFailing | undefined;
  /** `'hashed'`: the debug log of refusals names the key of the last one, by a hash. @defaultValue no keys in logs */
  logKeys?: 'hashed' | undefined;
  /**
   * Also `X-RateLimit-Limit`, `-Remaining` and `-Reset` (seconds), of the limit that is nearest to its end.
   * @defaultValue false
   */
  legacyHeaders?: boolean | undefined;
  /** Adds the fields to `Access-Control-Expose-Headers`, for requests with an `Origin`. @defaultValue false */
  exposeHeaders?: boolean | undefined;
  /**
   * `true`: refusals are problem details (RFC 9457) for everybody, not only for clients whose `Accept` names
   * `application/problem+json`. @defaultValue false
   */
  problemDetails?: boolean | undefined;
  /**
   * Adds up to this share, 0 to 1, to each `Retry-After`, by chance, so that not all come back in the same second.
   * @defaultValue 0
   */
  retryAfterJitter?: number | undefined;
  /** Whether CORS preflights are limited as other requests are. @defaultValue false */
  countPreflights?: boolean | undefined;
  /**
   * `false`: no request is limited, as if every class were under `@DisableRateLimiting()`; for tests of other things.
   * Mistakes in the options stop the boot all the same, and `RateLimitingService` works. @defaultValue true
   */
  enabled?: boolean | undefined;
}

/** Options of the module, as an object. */
export interface RateLimitingModuleOptions extends Readonly<RateLimitingSettings> {
  /** The policies by name. */
  readonly policies?: { readonly [Name in PolicyName]?: PolicyDefinition } | undefined;
}

/** What a feature module adds. */
export type RateLimitingFeatureOptions = Pick<RateLimitingModuleOptions, 'policies'>;

/** Configures the module step by step, as an alternative to an options object. */
export type ConfigureRateLimiting = (options: RateLimiterOptions) => void;

/** What `forRoot` takes beside the options: modules whose exports the policy classes named there need. */
export type RateLimitingRootOptions = RateLimitingModuleOptions & Pick<ModuleMetadata, 'imports'>;

/** A class that provides the options, for `forRootAsync`. */
export interface RateLimitingOptionsFactory {
  /** Called once, at the boot. */
  createRateLimitingOptions(): ProvidedOptions | Promise<ProvidedOptions>;
}

/** What an asynchronous source of options may provide. */
export type ProvidedOptions = RateLimitingModuleOptions | ConfigureRateLimiting;

/** Options of `RateLimitingModule.forRootAsync`. Exactly one of the three `use…` is needed. */
export interface RateLimitingAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** The providers that `useFactory` is called with. */
  readonly inject?: Extract<Provider, { inject?: unknown }>['inject'];
  /** Makes the options. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly useFactory?: (...dependencies: any[]) => ProvidedOptions | Promise<ProvidedOptions>;
  /** A class whose instance makes the options; created for this. */
  readonly useClass?: Type<RateLimitingOptionsFactory>;
  /** A provider that makes the options. */
  readonly useExisting?: Type<RateLimitingOptionsFactory> | string | symbol;
}
