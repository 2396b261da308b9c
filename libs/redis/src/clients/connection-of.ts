import { shown, typeError } from '../errors.js';
import type { IoredisClient } from './ioredis-connection.js';
import { IoredisConnection } from './ioredis-connection.js';
import type { NodeRedisClient } from './node-redis-connection.js';
import { NodeRedisConnection } from './node-redis-connection.js';
import type { RedisConnection } from './redis-connection.js';

/**
 * A client that {@link createRedisPartitions} takes: of ioredis (`Redis`, `Cluster`) or of node-redis
 * (`createClient`, `createCluster`, `createSentinel`). It stays yours: it is never closed here.
 */
export type RedisClient = object;

/**
 * The connection that a client makes.
 * @throws TypeError `ERR_RL_INVALID_OPTION` - for something that is no client of the two packages.
 */
export function connectionOf(client: unknown): RedisConnection {
  if (typeof client === 'object' && client !== null) {
    if (typeof (client as Partial<IoredisClient>).evalsha === 'function' && 'status' in client)
      return new IoredisConnection(client as IoredisClient);
    if (typeof (client as Partial<NodeRedisClient>).evalSha === 'function')
      return new NodeRedisConnection(client as NodeRedisClient);
  }
  throw typeError(
    'ERR_RL_INVALID_OPTION',
    `createRedisPartitions: client must be a client of ioredis or of node-redis, but got ${shown(client)}.`,
  );
}
