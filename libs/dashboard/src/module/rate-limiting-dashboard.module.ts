import type { DynamicModule, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { Inject, Module } from '@nestjs/common';
import { RateLimitingService } from '@ratelease/nestjs';
import { RateLimitingDashboardError } from '../errors/rate-limiting-dashboard-error.js';
import { dashboardController } from '../http/dashboard.controller.js';
import { Recorder } from '../recording/recorder.js';
import { LiveStream } from '../stream/live-stream.js';
import { Snapshots } from '../stream/snapshots.js';
import type { RateLimitingDashboardOptions } from './dashboard-options.js';
import type { DashboardSettings } from './dashboard-settings.js';
import { readSettings } from './dashboard-settings.js';
import { DASHBOARD_SETTINGS } from './tokens.js';

/**
 * A live page of the application's limits, behind guards of yours: for each policy what is granted, refused,
 * waiting and in use, second by second, the busiest keys and the leases that are held longest. It is nowhere
 * unless you import it.
 */
@Module({})
export class RateLimitingDashboardModule implements OnModuleInit, OnModuleDestroy {
  readonly #settings: DashboardSettings;
  readonly #recorder: Recorder;
  readonly #stream: LiveStream;

  /** @internal Nest makes it. */
  constructor(
    @Inject(DASHBOARD_SETTINGS) settings: DashboardSettings,
    @Inject(Recorder) recorder: Recorder,
    @Inject(LiveStream) stream: LiveStream,
  ) {
    this.#settings = settings;
    this.#recorder = recorder;
    this.#stream = stream;
  }

  /**
   * Mounts the page. It needs `RateLimitingModule.forRoot()` in the same application.
   *
   * @throws RateLimitingDashboardError `ERR_RL_DASHBOARD_UNGUARDED` - without guards; `ERR_RL_UNKNOWN_OPTION`,
   * `ERR_RL_INVALID_OPTION` - for options that make no sense. `ERR_RL_MODULE_MISSING` stops the boot where nothing
   * limits.
   */
  static forRoot(options: RateLimitingDashboardOptions): DynamicModule {
    const settings = readSettings(options);
    const { clock, keys, recording } = settings;
    return {
      module: RateLimitingDashboardModule,
      imports: options.imports ?? [],
      controllers: [dashboardController(settings)],
      providers: [
        { provide: DASHBOARD_SETTINGS, useValue: settings },
        {
          provide: Recorder,
          inject: [{ token: RateLimitingService, optional: true }],
          useFactory: (service?: RateLimitingService) => new Recorder(required(service), clock),
        },
        {
          provide: LiveStream,
          inject: [Recorder],
          useFactory: (recorder: Recorder) =>
            new LiveStream(recorder, new Snapshots(recorder, clock, keys), clock, recording),
        },
      ],
    };
  }

  /** Begins to record. */
  onModuleInit(): void {
    if (this.#settings.recording === 'always') this.#recorder.start();
  }

  /** Ends the streams. */
  onModuleDestroy(): void {
    this.#stream.close();
  }
}

function required(service: RateLimitingService | undefined): RateLimitingService {
  if (service !== undefined) return service;
  throw new RateLimitingDashboardError(
    'ERR_RL_MODULE_MISSING',
    'RateLimitingDashboardModule shows what RateLimitingModule does, but the application has none. Import ' +
      'RateLimitingModule.forRoot() in the root module.',
  );
}
