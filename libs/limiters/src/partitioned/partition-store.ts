import type { Clock } from '../clock.js';
import { throwCollected } from '../errors.js';
import { ExpiryWheel } from './expiry-wheel.js';
import type { Partition } from './partition.js';
import { ReplenishmentBeat } from './replenishment-beat.js';
import { ShardedMap } from './sharded-map.js';

/** Told of errors that nobody awaits. */
export type PartitionErrorHandler = (error: unknown, key: unknown) => void;

/** The settings of a {@link PartitionStore}. */
export interface PartitionStoreOptions {
  readonly clock: Clock;
  readonly idleTimeoutMs: number;
  readonly maxPartitions: number;
  readonly onError: PartitionErrorHandler | undefined;
}

/** How soon a limiter is looked at again whose idleness can't be foreseen. */
const POLL_MS = 100;

/**
 * The live partitions of a limiter, bounded in number. Those that are idle for too long leave by themselves;
 * each is looked at about once per idle timeout, not at every beat.
 */
export class PartitionStore<TKey> {
  readonly #options: PartitionStoreOptions;
  readonly #partitions = new ShardedMap<Partition<TKey>>();
  readonly #wheel: ExpiryWheel<Partition<TKey>>;
  readonly #beat: ReplenishmentBeat;

  constructor(options: PartitionStoreOptions) {
    this.#options = options;
    this.#wheel = new ExpiryWheel(options.clock, (partition) => this.#look(partition));
    this.#beat = new ReplenishmentBeat(options.clock, options.onError);
  }

  get size(): number {
    return this.#partitions.size;
  }

  /** The live partition of a key; one that has outlived its idle timeout is thrown away first. */
  get(identity: unknown): Partition<TKey> | undefined {
    const partition = this.#partitions.get(identity);
    if (partition === undefined || !partition.isEvictable(this.#options.idleTimeoutMs)) return partition;
    this.#evict(partition);
    return undefined;
  }

  /** Whether one more partition may be made; throws an idle one away where that is needed. */
  hasRoom(): boolean {
    if (this.#partitions.size < this.#options.maxPartitions) return true;
    const idle = this.#wheel.findDue((partition) => partition.isEvictable(this.#options.idleTimeoutMs));
    if (idle === undefined) return false;
    this.#evict(idle);
    return true;
  }

  add(partition: Partition<TKey>): void {
    this.#partitions.add(partition.identity, partition);
    this.#schedule(partition);
  }

  /** Replenishes a limiter that doesn't do so by itself, now and while somebody waits in it. */
  replenish(partition: Partition<TKey>): void {
    if (partition.manual !== null) this.#beat.touch(partition as Partition<unknown>);
  }

  values(): Iterable<Partition<TKey>> {
    return this.#partitions.values();
  }

  /** Disposes all limiters, whatever some of them throw. */
  dispose(): void {
    this.#wheel.stop();
    this.#beat.stop();
    const errors: unknown[] = [];
    for (const partition of [...this.#partitions.values()]) {
      this.#remove(partition);
      this.#end(partition, (error) => errors.push(error));
    }
    throwCollected(errors, 'Several limiters of partitions failed to end.');
  }

  #look(partition: Partition<TKey>): void {
    try {
      if (partition.isEvictable(this.#options.idleTimeoutMs)) return this.#evict(partition);
      if (!partition.hasWaiters) partition.declared = null;
    } catch (error) {
      this.#options.onError?.(error, partition.key);
    }
    this.#schedule(partition);
  }

  #schedule(partition: Partition<TKey>): void {
    const nowMs = this.#options.clock.now();
    if (partition.isPredictable) {
      partition.dueMs = nowMs + this.#options.idleTimeoutMs - (partition.limiter.idleDurationMs ?? 0);
      // Held by a waiting chain: its idleness is over the limit already, so ask again soon.
      if (partition.dueMs < nowMs) partition.dueMs = nowMs;
    } else {
      partition.dueMs = nowMs + POLL_MS / 2;
    }
    this.#wheel.add(partition);
  }

  #evict(partition: Partition<TKey>): void {
    this.#remove(partition);
    this.#end(partition, (error) => this.#options.onError?.(error, partition.key));
  }

  #remove(partition: Partition<TKey>): void {
    this.#partitions.delete(partition.identity);
    this.#wheel.delete(partition);
    this.#beat.forget(partition as Partition<unknown>);
  }

  /** Ends the limiter of a partition that has left the map, so that no call meets a disposed one. */
  #end(partition: Partition<TKey>, onError: (error: unknown) => void): void {
    try {
      const ended = partition.limiter.dispose();
      if (ended instanceof Promise) ended.catch(onError);
    } catch (error) {
      onError(error);
    }
  }
}
