import type { DynamicModule, ModuleMetadata, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { otherCopies } from '@ratelease/limiters';
import { ActiveSessions } from '../sessions/active-sessions.js';
import type { ActiveSessionModuleOptions } from './active-session-options.js';
import { readActiveSessionOptions } from './active-session-options.js';
import { ACTIVE_SESSION_SETTINGS, ACTIVE_SESSIONS } from './tokens.js';

/** Options of `ActiveSessionModule.forRootAsync`. */
export interface ActiveSessionAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** What the factory needs. */
  readonly inject?: Extract<Provider, { inject?: unknown }>['inject'];
  /** Makes the options. */
  readonly useFactory: (
    // oxlint-disable-next-line typescript/no-explicit-any
    ...dependencies: any[]
  ) => ActiveSessionModuleOptions | Promise<ActiveSessionModuleOptions>;
}

/** Long-lived sessions that many requests share. Import it once, in the root module; it is global. */
@Module({})
export class ActiveSessionModule {
  /**
   * Configures the sessions. Mistakes in the options stop the boot with an {@link ActiveSessionError}.
   */
  static forRoot(options: ActiveSessionModuleOptions): DynamicModule {
    return moduleWith({
      provide: ACTIVE_SESSION_SETTINGS,
      useFactory: () => readActiveSessionOptions(options),
    });
  }

  /** The same with options that need other providers. */
  static forRootAsync({ imports, inject, useFactory }: ActiveSessionAsyncOptions): DynamicModule {
    return moduleWith(
      {
        provide: ACTIVE_SESSION_SETTINGS,
        inject: inject ?? [],
        useFactory: async (...dependencies: unknown[]) =>
          readActiveSessionOptions(await useFactory(...dependencies)),
      },
      imports,
    );
  }
}

/** `ActiveSessions` of the other loaded copies of this package. */
function otherTokens(): readonly (typeof ActiveSessions)[] {
  return otherCopies('active-session.ActiveSessions', ActiveSessions);
}

// From the moment when it is loaded, the others find this copy.
otherTokens();

function moduleWith(settings: Provider, imports: ModuleMetadata['imports'] = []): DynamicModule {
  const own = [settings, ActiveSessions, { provide: ACTIVE_SESSIONS, useExisting: ActiveSessions }];
  return {
    module: ActiveSessionModule,
    global: true,
    imports,
    // Nest reads them when the application is made: by then every copy is loaded that it may meet.
    get providers() {
      return [...own, ...otherTokens().map((provide) => ({ provide, useExisting: ActiveSessions }))];
    },
    get exports() {
      return [ActiveSessions, ACTIVE_SESSIONS, ...otherTokens()];
    },
  };
}
