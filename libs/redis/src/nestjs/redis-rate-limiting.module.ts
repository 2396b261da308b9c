import type { DynamicModule, ModuleMetadata, OnApplicationShutdown, Provider } from '@nestjs/common';
import { Inject, Module } from '@nestjs/common';
import { createRedisPartitions, otherRedisPartitions, RedisPartitions } from '../create-redis-partitions.js';
import type { RedisPartitionsOptions } from '../redis-partitions-options.js';
import type { RedisRateLimitingAsyncOptions } from './redis-rate-limiting-options.js';

/**
 * Provides {@link RedisPartitions} to the whole application, so that policy classes can have them injected:
 * `constructor(private readonly shared: RedisPartitions) {}`. They are disposed when the application has shut down:
 * held leases are given back then. The client stays yours, and has to be open until then.
 */
@Module({})
export class RedisRateLimitingModule implements OnApplicationShutdown {
  readonly #partitions: RedisPartitions;

  constructor(@Inject(RedisPartitions) partitions: RedisPartitions) {
    this.#partitions = partitions;
  }

  /**
   * Provides the shared partitions to the whole application.
   *
   * @param options - those of `createRedisPartitions`.
   */
  static forRoot(options: RedisPartitionsOptions): DynamicModule {
    return globalModule({ provide: RedisPartitions, useFactory: () => createRedisPartitions(options) });
  }

  /** The same with options that need other providers, such as the one of your client. */
  static forRootAsync({ imports, inject, useFactory }: RedisRateLimitingAsyncOptions): DynamicModule {
    const make = async (...dependencies: unknown[]): Promise<RedisPartitions> =>
      createRedisPartitions(await useFactory(...dependencies));
    return globalModule({ provide: RedisPartitions, inject: inject ?? [], useFactory: make }, imports);
  }

  /** Gives held leases back and leaves the queues. */
  async onApplicationShutdown(): Promise<void> {
    await this.#partitions.dispose();
  }
}

function globalModule(provider: Provider, imports: ModuleMetadata['imports'] = []): DynamicModule {
  return {
    module: RedisRateLimitingModule,
    global: true,
    imports,
    // Nest reads them when the application is made: by then every copy is loaded that it may meet.
    get providers() {
      return [
        provider,
        ...otherRedisPartitions().map((provide) => ({ provide, useExisting: RedisPartitions })),
      ];
    },
    get exports() {
      return [RedisPartitions, ...otherRedisPartitions()];
    },
  };
}
