// `Symbol.for`: a second loaded copy of the package (ESM beside CommonJS) must find the same providers.

/** The checked options of the module. @internal */
export const ACTIVE_SESSION_SETTINGS = Symbol.for('ratelease.active-session-settings');
/** The options of the limit on sessions. @internal */
export const SESSION_LIMIT = Symbol.for('ratelease.session-limit');
/** `ActiveSessions`. @internal */
export const ACTIVE_SESSIONS = Symbol.for('ratelease.active-sessions');
/** `AdditionalLimits` of `@ratelease/nestjs`, which is perhaps a copy that isn't the one imported here. @internal */
export const ADDITIONAL_LIMITS = Symbol.for('ratelease.additional-limits');
