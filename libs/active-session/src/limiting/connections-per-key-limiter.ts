import type { Clock, ConcurrencyLimiterOptions, SingleShareableLeaseOwner } from '@ratelease/limiters';
import {
  ConcurrencyLimiter,
  createPartitionedRateLimiter,
  LinkedLeaseRateLimiter,
  RateLimitPartition,
} from '@ratelease/limiters';
import type { RateLimitingContext } from '@ratelease/nestjs';
import { SessionLeaseStore } from './session-lease-store.js';

/** Options of {@link ConnectionsPerKeyLimiter}. */
export interface ConnectionsPerKeyOptions extends Pick<
  ConcurrencyLimiterOptions,
  'permitLimit' | 'queueLimit' | 'queueProcessingOrder'
> {
  /** Whom a connection counts for, such as `byUser()` or `byClient()`; asked until the connection has its permit. */
  readonly key: (context: RateLimitingContext) => unknown;
  /** The source of time. @defaultValue the monotonic clock of the process */
  readonly clock?: Clock | undefined;
}

/** A client of socket.io or of ws. */
interface Client {
  once(event: string, listener: () => void): unknown;
  readonly disconnected?: boolean;
  readonly readyState?: number;
}

/** The events with which a connection ends: of socket.io, of ws. */
const ENDS = ['disconnect', 'close'];
/** `WebSocket.CLOSING` and above. */
const CLOSING = 2;

/**
 * At most so many WebSocket connections per key: a connection holds one permit from its first granted message to
 * its disconnect, and its messages share it. What comes by another transport is not limited.
 */
export class ConnectionsPerKeyLimiter extends LinkedLeaseRateLimiter<RateLimitingContext> {
  readonly #stores = new WeakMap<object, SessionLeaseStore>();

  /** @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for numbers out of range. */
  constructor({ key, clock, ...numbers }: ConnectionsPerKeyOptions) {
    new ConcurrencyLimiter({ ...numbers, clock }).dispose();
    const base = createPartitionedRateLimiter(
      (context: RateLimitingContext) =>
        clientOf(context) === undefined
          ? RateLimitPartition.getNoLimiter<unknown>(undefined)
          : RateLimitPartition.getConcurrencyLimiter(requireKey(key(context)), () => numbers),
      { clock },
    );
    super(base, { disposeBaseLimiter: true, clock });
  }

  protected override getLeaseStore(
    context: RateLimitingContext,
  ): SingleShareableLeaseOwner<RateLimitingContext> | null {
    const client = clientOf(context);
    return client === undefined ? null : this.#storeOf(client);
  }

  #storeOf(client: Client): SessionLeaseStore {
    const known = this.#stores.get(client);
    if (known !== undefined) return known;
    const store = new SessionLeaseStore();
    this.#stores.set(client, store);
    for (const event of ENDS) client.once(event, () => store.dispose());
    return store;
  }
}

/** The client of a message, as long as it is connected. */
function clientOf({ type, request }: RateLimitingContext): Client | undefined {
  if (type !== 'ws') return undefined;
  const client = request as Client;
  const isOver = client.disconnected === true || (client.readyState ?? 0) >= CLOSING;
  return isOver ? undefined : client;
}

function requireKey(key: unknown): unknown {
  if (key === undefined || key === null || typeof (key as { then?: unknown }).then === 'function') {
    throw new TypeError(
      `ConnectionsPerKeyLimiter: key must return a key for every connection, at once, but returned ${typeof key}.`,
    );
  }
  if (isNewEachTime(key)) {
    throw new TypeError(
      `ConnectionsPerKeyLimiter: key must return the same value for all connections of a key, but returned ${typeof key === 'function' ? 'a function' : 'a new object'}, ` +
        'so that none would be limited. Call byClient() and the like, or make a text of what you have.',
    );
  }
  return key;
}

/** Functions, which `byClient` without its call makes, and literals equal none of another connection. */
function isNewEachTime(key: unknown): boolean {
  if (typeof key !== 'object' || key === null) return typeof key === 'function';
  const prototype: unknown = Object.getPrototypeOf(key);
  return prototype === null || prototype === Object.prototype || Array.isArray(key);
}
