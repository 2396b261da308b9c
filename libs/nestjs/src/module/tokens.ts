// `Symbol.for`: a second loaded copy of the package (ESM beside CommonJS) must find the same providers.

/** The checked options of the module. @internal */
export const SETTINGS = Symbol.for('ratelease.settings');
/** What the application's policies are. @internal */
export const POLICIES = Symbol.for('ratelease.policies');
/** What applies to which endpoint. @internal */
export const PLANS = Symbol.for('ratelease.plans');
/** Takes permits for requests. @internal */
export const ENFORCEMENT = Symbol.for('ratelease.enforcement');
/** The class or provider that makes the options of `forRootAsync`. @internal */
export const OPTIONS_FACTORY = Symbol.for('ratelease.options-factory');
/** Compiles policies and plans at start-up. @internal */
export const BOOT = Symbol.for('ratelease.boot');
/** Asks the global limiter before routing. @internal */
export const MIDDLEWARE_PHASE = Symbol.for('ratelease.middleware-phase');
/** Which call has made a dynamic module. @internal */
export const CALL = Symbol.for('ratelease.call');
/** The policies of a feature module. @internal */
export const FEATURE_POLICIES = Symbol.for('ratelease.feature-policies');
/** Brings them to an application that runs already. @internal */
export const LATE_FEATURE = Symbol.for('ratelease.late-feature');
/** Says at the boot what looks wrong. @internal */
export const BOOT_WARNINGS = Symbol.for('ratelease.boot-warnings');
/** Shows what the limits do. @internal */
export const VISIBILITY = Symbol.for('ratelease.visibility');
/** What stands in the application's lists of guards and interceptors. @internal */
export const OWN_ENHANCERS = Symbol.for('ratelease.own-enhancers');
/** Binds guard and interceptor to routes. @internal */
export const HTTP_BINDING = Symbol.for('ratelease.http-binding');
/** `AdditionalLimits`, for modules that are a copy of their own. @internal */
export const ADDITIONAL_LIMITS = Symbol.for('ratelease.additional-limits');
