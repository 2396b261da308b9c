import { LeaseKeeper } from '../concurrency/lease-keeper.js';
import { Notifications } from '../concurrency/notifications.js';
import { Reserve } from '../reserve/reserve.js';
import type { LimiterGroup } from '../store/limiter-group.js';
import type { Store } from '../store/store.js';
import { RateQueue } from '../waiting/rate-queue.js';
import type { LimiterDefinition } from './limiter-definition.js';

/** What this process keeps of the limiters that are in use: leases it holds, requests that wait, permits it reserved. */
export class ProcessStates {
  readonly store: Store;
  readonly notifications: Notifications;
  readonly #keepers = new Map<string, LeaseKeeper>();
  readonly #queues = new Map<string, RateQueue>();
  readonly #reserves = new Map<string, Reserve>();
  readonly #ended = new Set<Reserve>();
  #isEnded = false;

  constructor(store: Store) {
    this.store = store;
    this.notifications = new Notifications(store, () => {
      for (const keeper of this.#keepers.values()) keeper.look();
    });
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The keeper of a concurrency limiter's leases. */
  keeper(partitionKey: string, definition: LimiterDefinition): LeaseKeeper {
    const name = `${partitionKey} ${definition.name}`;
    let keeper = this.#keepers.get(name);
    if (keeper !== undefined) {
      keeper.follow(definition);
      return keeper;
    }
    const { store, notifications } = this;
    const onIdle = (): void => {
      if (this.#keepers.get(name) === keeper) this.#keepers.delete(name);
    };
    keeper = new LeaseKeeper({ store, notifications, onIdle }, partitionKey, definition);
    this.#keepers.set(name, keeper);
    return keeper;
  }

  /** Those of a group. */
  keepers({ partitionKey, concurrency }: LimiterGroup): LeaseKeeper[] {
    return concurrency.map((definition) => this.keeper(partitionKey, definition));
  }

  /** A limiter has other numbers: who waits is looked at anew, and what is held is renewed by them. */
  redefined(partitionKey: string, before: LimiterDefinition, definition: LimiterDefinition): void {
    this.#keepers.get(`${partitionKey} ${definition.name}`)?.follow(definition);
    // Without a name of its own it is another limiter from now on.
    if (before.name !== definition.name) this.#keepers.get(`${partitionKey} ${before.name}`)?.lookAnew();
    this.queueInUse(partitionKey, before)?.askAnew();
  }

  /** Forgets what was kept of the group's leases where that is nothing any more. */
  tidy({ hasConcurrency, partitionKey, definitions }: LimiterGroup): void {
    if (!hasConcurrency) return;
    for (const { name } of definitions) this.#keepers.get(`${partitionKey} ${name}`)?.tidy();
  }

  /** The queue of a rate. */
  queue(partitionKey: string, definition: LimiterDefinition): RateQueue {
    const name = `${partitionKey} ${definition.name}`;
    let queue = this.#queues.get(name);
    if (queue !== undefined) return queue;
    const onIdle = (): void => void this.#queues.delete(name);
    queue = new RateQueue(definition.clock, definition.isNewestFirst, onIdle);
    this.#queues.set(name, queue);
    return queue;
  }

  /** The queue of a rate where somebody waits in it. */
  queueInUse(partitionKey: string, definition: LimiterDefinition): RateQueue | undefined {
    if (this.#queues.size === 0) return undefined;
    return this.#queues.get(`${partitionKey} ${definition.name}`);
  }

  /** What is reserved of a group; `undefined` where nothing may be. */
  reserve(group: LimiterGroup): Reserve | undefined {
    if (group.reserveAhead === 0) return undefined;
    let reserve = this.#reserves.get(group.name);
    if (reserve !== undefined) return reserve;
    reserve = new Reserve(this.store, group, () => void this.#reserves.delete(group.name));
    this.#reserves.set(group.name, reserve);
    return reserve;
  }

  /** The reserve of a group where there is one. */
  reserveInUse(group: LimiterGroup): Reserve | undefined {
    return this.#reserves.get(group.name);
  }

  /** Ends all waits and gives everything back; resolves when the server has been told. Again, only what came since. */
  async end(): Promise<void> {
    this.#isEnded = true;
    for (const queue of this.#queues.values()) queue.close();
    this.#queues.clear();
    const reserves = [...this.#reserves.values()].filter((reserve) => !this.#ended.has(reserve));
    for (const reserve of reserves) this.#ended.add(reserve);
    const keepers = [...this.#keepers.values()];
    // What is abandoned from now on has keepers of its own.
    this.#keepers.clear();
    await Promise.all([...keepers, ...reserves].map((holder) => holder.end()));
    this.notifications.end();
  }
}
