import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { RedisPartitionsOptions } from '../redis-partitions-options.js';

/** Options of `RedisRateLimitingModule.forRootAsync`. */
export interface RedisRateLimitingAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** What the factory gets: the provider of your client, of your configuration. */
  readonly inject?: FactoryProvider['inject'];
  /** Makes the options of `createRedisPartitions`. */
  // oxlint-disable-next-line no-explicit-any -- what is injected has the types that the factory gives it
  readonly useFactory: (...dependencies: any[]) => RedisPartitionsOptions | Promise<RedisPartitionsOptions>;
}
