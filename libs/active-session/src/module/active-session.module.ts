import type { DynamicModule, ModuleMetadata, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
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

function moduleWith(settings: Provider, imports: ModuleMetadata['imports'] = []): DynamicModule {
  return {
    module: ActiveSessionModule,
    global: true,
    imports,
    providers: [settings, ActiveSessions, { provide: ACTIVE_SESSIONS, useExisting: ActiveSessions }],
    exports: [ActiveSessions, ACTIVE_SESSIONS],
  };
}
