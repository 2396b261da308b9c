export type { CurrentActiveSessionOptions } from './decorators/current-active-session.js';
export { CurrentActiveSession } from './decorators/current-active-session.js';
export type { OpensActiveSessionOptions } from './decorators/opening-metadata.js';
export { OpensActiveSession } from './decorators/opens-active-session.js';
export type { ActiveSessionErrorCode, SessionEndReason } from './errors/active-session-error.js';
export { ActiveSessionError, SessionEndedError } from './errors/active-session-error.js';
export type { ActiveSessionsPerGroupOptions } from './limiting/active-sessions-per-group-limiter.js';
export { ActiveSessionsPerGroupLimiter } from './limiting/active-sessions-per-group-limiter.js';
export type { ConnectionsPerKeyOptions } from './limiting/connections-per-key-limiter.js';
export { ConnectionsPerKeyLimiter } from './limiting/connections-per-key-limiter.js';
export type { ActiveSessionLimitingOptions } from './module/active-session-limiting.module.js';
export { ActiveSessionLimitingModule } from './module/active-session-limiting.module.js';
export type { ActiveSessionModuleOptions } from './module/active-session-options.js';
export type { ActiveSessionAsyncOptions } from './module/active-session.module.js';
export { ActiveSessionModule } from './module/active-session.module.js';
export type { ApplicationValue } from './requests/handling.js';
export type { GroupStrategy, SessionStrategy } from './requests/strategies.js';
export {
  byCookieSession,
  bySessionHeader,
  byUserId,
  sessionByHeader,
  sessionByParam,
} from './requests/strategies.js';
export type { OpenSessionOptions } from './sessions/active-session-group.js';
export { ActiveSessionGroup } from './sessions/active-session-group.js';
export type { AnyWork } from './sessions/active-session.js';
export { ActiveSession } from './sessions/active-session.js';
export { ActiveSessions } from './sessions/active-sessions.js';
export type { Work, WorkContext, WorkStatus } from './sessions/background-work.js';
export { BackgroundWork } from './sessions/background-work.js';
export type { SessionErrorHandler } from './sessions/lifespan.js';
export { Lifespan } from './sessions/lifespan.js';
export type { Resource } from './sessions/owned-resources.js';
export type { SessionLifetime } from './sessions/usage-clock.js';
