import type { MetadataName } from './metadata-name.js';

/** What a limiter tells about itself at the moment of a decision; the material of the HTTP `RateLimit` fields. */
export interface RateLimitQuota {
  /** The limit in permits. */
  readonly limit: number;
  /** Permits left after the decision, never below 0. */
  readonly remaining: number;
  /** Milliseconds until all permits are back if nobody asks; `undefined` where only disposal brings them back. */
  readonly resetAfterMs: number | undefined;
  /** Milliseconds of the window, or of the filling of an empty bucket; `undefined` for concurrency. */
  readonly windowMs: number | undefined;
  /** Which member of the asked chain the limiter belongs to, counted from 0; 0 where there is no chain. */
  readonly member: number;
}

/** A lease as text of data formats. */
export interface LeaseJson {
  /** Whether it was granted. */
  readonly isAcquired: boolean;
  /** By name. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** How the limiters stood at the decision. */
  readonly quota: readonly RateLimitQuota[];
}

const BRAND = Symbol.for('ratelease.lease');
const NO_QUOTA: readonly RateLimitQuota[] = Object.freeze([]);

/**
 * The answer of a limiter. A granted lease holds its permits until {@link RateLimitLease.dispose}; a refused one
 * holds nothing and says in its metadata when to come back or why.
 *
 * Subclass it for a limiter of your own: implement `isAcquired`, `metadataNames`, `getMetadata` and, where the
 * lease holds something, `dispose`.
 */
export abstract class RateLimitLease implements Disposable {
  /** `true`: the permits are yours until you dispose the lease. */
  abstract get isAcquired(): boolean;

  /** The names of the metadata that have a value on this lease. */
  abstract get metadataNames(): Iterable<string>;

  /**
   * A piece of metadata.
   *
   * @param name - `MetadataName.retryAfter`, `MetadataName.reasonPhrase`, one of your own, or its text.
   * @returns the value, or `undefined` where the lease has none under this name.
   */
  abstract getMetadata<T>(name: MetadataName<T>): T | undefined;
  abstract getMetadata(name: string): unknown;

  /** Everything the lease tells, as pairs of name and value. */
  *allMetadata(): IterableIterator<[string, unknown]> {
    for (const name of this.metadataNames) yield [name, this.getMetadata(name)];
  }

  /** An entry for each limiter that took part in the decision, as of the decision. */
  quota(): readonly RateLimitQuota[] {
    return NO_QUOTA;
  }

  /** What logs and `JSON.stringify` show of it: what it tells, not what it is made of. */
  toJSON(): LeaseJson {
    return {
      isAcquired: this.isAcquired,
      metadata: Object.fromEntries(this.allMetadata()),
      quota: this.quota(),
    };
  }

  /** Gives back what the lease holds. The second call, and a call on a refused lease, do nothing. */
  dispose(): void {
    // A lease that holds nothing has nothing to give back.
  }

  /** The same as {@link RateLimitLease.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Recognises the leases of another loaded copy of this package as well. */
  static [Symbol.hasInstance](this: abstract new (...args: never) => unknown, value: unknown): boolean {
    if (this !== (RateLimitLease as unknown)) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

Object.defineProperty(RateLimitLease.prototype, BRAND, { value: true });

/** The text of a metadata name given in either form. */
export function metadataKey(name: string | MetadataName<unknown>): string {
  return typeof name === 'string' ? name : name.name;
}
