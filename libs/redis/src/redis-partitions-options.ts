import type { RedisClient } from './clients/connection-of.js';
import type { WhenUnavailable } from './remote/limiter-definition.js';

/** Options of {@link createRedisPartitions}. */
export interface RedisPartitionsOptions {
  /**
   * A client of ioredis or node-redis, for a single server, a cluster, or a server that sentinels watch. It stays yours:
   * it is never closed here.
   */
  readonly client: RedisClient;
  /** What all keys begin with. Users of one prefix share their limits. @defaultValue `'ratelease'` */
  readonly prefix?: string | undefined;
  /**
   * Milliseconds, above 0, after which a command counts as lost and the request is answered without the store.
   * @defaultValue 250
   */
  readonly commandTimeoutMs?: number | undefined;
  /**
   * What is answered when the store can't be asked: `'allow'` grants, `'deny'` refuses with the reason
   * {@link STORE_UNAVAILABLE}, `'local'` asks a limiter of this process with a share of the limit.
   * @defaultValue `'deny'`
   */
  readonly whenUnavailable?: WhenUnavailable | undefined;
  /** Over how many processes `'local'` divides a limit, an integer of at least 1. @defaultValue 1 */
  readonly instances?: number | undefined;
  /**
   * For how many milliseconds at most, at least 0, this process remembers a refusal by a rate, and refuses requests for
   * as many permits or more without asking until the waiting time of the refusal is over. 0: it asks each time.
   * For limiters without a queue.
   * @defaultValue 0
   */
  readonly refusalCacheMs?: number | undefined;
  /**
   * `false`: each decision that does not concern the same limiters goes in a call of its own. By default those of
   * one turn of the event loop go in one, except on a cluster.
   * @defaultValue true
   */
  readonly batching?: boolean | undefined;
}
