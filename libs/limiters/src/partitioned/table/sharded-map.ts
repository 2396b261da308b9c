/**
 * A map that doesn't stall when it grows. One `Map` copies all its entries each time it doubles, which holds the
 * event loop for tens of milliseconds at a million keys; here no part ever grows beyond what is copied in a
 * fraction of a millisecond. Keys compare as in a `Map`.
 *
 * Few keys live in one map. Beyond {@link SPLIT_AT} strings go into one of {@link SHARDS} by a hash; objects and
 * symbols, which have no hash to be read, stay together.
 */
const SPLIT_AT = 4096;
const SHARDS = 256;
/** Keys moved from the first map to the shards per insertion, once there are too many for it. */
const MOVED_PER_INSERTION = 8;

export class ShardedMap<V> {
  #first = new Map<unknown, V>();
  #shards: Map<unknown, V>[] | null = null;
  #moving: MapIterator<unknown> | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: unknown): V | undefined {
    const shard = this.#shardOf(key);
    if (shard === this.#first) return shard.get(key);
    return shard.get(key) ?? (this.#moving === null ? undefined : this.#first.get(key));
  }

  /** Adds a key that isn't there yet. */
  add(key: unknown, value: V): void {
    this.#size++;
    if (this.#shards === null && this.#size > SPLIT_AT) this.#split();
    this.#shardOf(key).set(key, value);
    if (this.#moving !== null) this.#moveSome(this.#moving);
  }

  delete(key: unknown): void {
    const shard = this.#shardOf(key);
    if (!shard.delete(key) && !this.#first.delete(key)) return;
    this.#size--;
    if (this.#size > 0) return;
    this.#shards = null;
    this.#moving = null;
    this.#first = new Map();
  }

  #shardOf(key: unknown): Map<unknown, V> {
    if (this.#shards === null) return this.#first;
    if (typeof key === 'string') return this.#shards[hashString(key)]!;
    return this.#first;
  }

  #split(): void {
    this.#shards = Array.from({ length: SHARDS }, () => new Map<unknown, V>());
    this.#moving = this.#first.keys();
  }

  #moveSome(keys: MapIterator<unknown>): void {
    for (let moved = 0; moved < MOVED_PER_INSERTION; moved++) {
      const { done, value: key } = keys.next();
      if (done === true) {
        this.#moving = null;
        return;
      }
      const shard = this.#shardOf(key);
      if (shard === this.#first) continue;
      shard.set(key, this.#first.get(key)!);
      this.#first.delete(key);
    }
  }
}

/** Of longer strings as many characters of the beginning and of the end: nobody makes the hash slow by a long key. */
const HASHED_CHARACTERS = 128;

/** FNV-1a. */
function hashString(key: string): number {
  const { length } = key;
  let hash = 0x811c9dc5 ^ length;
  const beginning = Math.min(length, HASHED_CHARACTERS);
  for (let index = 0; index < beginning; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  for (let index = Math.max(beginning, length - HASHED_CHARACTERS); index < length; index++) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) & (SHARDS - 1);
}
