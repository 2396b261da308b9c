import type { DynamicModule, OnModuleDestroy } from '@nestjs/common';
import { Inject, Module } from '@nestjs/common';
import type { AdditionalLimits } from '@ratelease/nestjs';
import { SelectiveRateLimiterPolicy } from '@ratelease/nestjs';
import type { ActiveSessionsPerGroupOptions } from '../limiting/active-sessions-per-group-limiter.js';
import { ActiveSessionsPerGroupLimiter } from '../limiting/active-sessions-per-group-limiter.js';
import type { ActiveSessions } from '../sessions/active-sessions.js';
import { ACTIVE_SESSIONS, ADDITIONAL_LIMITS, SESSION_LIMIT } from './tokens.js';

/** Options of `ActiveSessionLimitingModule`. */
export interface ActiveSessionLimitingOptions extends ActiveSessionsPerGroupOptions {
  /** What exceptions and the `RateLimit` fields call the limit. @defaultValue `'activeSessions'` */
  readonly name?: string | undefined;
}

/**
 * Limits how many sessions are active per group, everywhere where nothing is disabled: the limit is taken
 * together with the module's global limiter, if there is one, and with the endpoint's policies. It needs
 * `RateLimitingModule` and `ActiveSessionModule`, in any order.
 */
@Module({})
export class ActiveSessionLimitingModule implements OnModuleDestroy {
  readonly #limiter: ActiveSessionsPerGroupLimiter;

  constructor(
    @Inject(SESSION_LIMIT) { name = 'activeSessions', ...numbers }: ActiveSessionLimitingOptions,
    @Inject(ACTIVE_SESSIONS) sessions: ActiveSessions,
    @Inject(ADDITIONAL_LIMITS) limits: AdditionalLimits,
  ) {
    this.#limiter = new ActiveSessionsPerGroupLimiter(sessions, numbers);
    limits.add(name, new SelectiveRateLimiterPolicy(this.#limiter));
  }

  /** Configures the limit. Numbers out of range stop the boot. */
  static forRoot(options: ActiveSessionLimitingOptions): DynamicModule {
    return {
      module: ActiveSessionLimitingModule,
      providers: [{ provide: SESSION_LIMIT, useValue: options }],
    };
  }

  /** Requests that wait for a permit get refused. */
  onModuleDestroy(): void {
    this.#limiter.dispose();
  }
}
