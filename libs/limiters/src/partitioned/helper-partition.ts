import { requireOptions } from '../checks.js';
import type { LimiterOptions } from '../engine/limiter-options.js';
import type { LimiterKind } from '../engine/limiter-plan.js';
import { show, typeError } from '../errors.js';
import type { RateLimiter } from '../rate-limiter.js';
import type { PartitionContext, RateLimitPartition } from './rate-limit-partition.js';

/** A limiter whose options can change. */
interface Updatable<TOptions> extends RateLimiter {
  replaceOptions(options: TOptions): void;
}

/** A kind of limiter that has a helper. */
export interface HelperKind<TOptions extends LimiterOptions> {
  /** The name of the helper. */
  readonly helper: string;
  readonly kind: LimiterKind<TOptions>;
  readonly limiter: new (options: TOptions) => Updatable<TOptions>;
}

/**
 * What the helpers make: a partition of which the options are known, not only the factory. A table keeps such
 * partitions as rows of numbers.
 */
export class HelperPartition<TKey, TOptions extends LimiterOptions> implements RateLimitPartition<TKey> {
  readonly partitionKey: TKey;
  readonly kind: HelperKind<TOptions>;
  private readonly optionsOf: (key: TKey) => TOptions;

  constructor(kind: HelperKind<TOptions>, partitionKey: TKey, optionsOf: (key: TKey) => TOptions) {
    this.kind = kind;
    this.partitionKey = partitionKey;
    this.optionsOf = optionsOf;
  }

  /** Asks the options factory. */
  options(key: TKey): TOptions {
    const options = this.optionsOf(key);
    requireOptions(this.kind.helper, options);
    return options;
  }

  /** The limiter for options that were asked for; it gets the clock of its keeper where it brings none along. */
  make(options: TOptions, context: PartitionContext | undefined): RateLimiter {
    return new this.kind.limiter(this.#withClock(options, context));
  }

  /**
   * A method, not a function of each partition's own: partitions are made for each request, and most factories are
   * never called.
   */
  factory(key: TKey, context?: PartitionContext): RateLimiter {
    if (!((this as unknown) instanceof HelperPartition)) throw taken(this);
    return this.make(this.options(key), context);
  }

  refresh(limiter: RateLimiter, key: TKey, context: PartitionContext): void {
    // One of another kind stays what it is until it has been idle: nobody can say what its permits are in this one.
    if (!(limiter instanceof this.kind.limiter)) return;
    // What the factory leaves out is its default again, as in a limiter that it would make now.
    limiter.replaceOptions(this.#withClock(this.options(key), context));
  }

  #withClock(options: TOptions, context: PartitionContext | undefined): TOptions {
    return options.clock === undefined && context !== undefined
      ? { ...options, clock: context.clock }
      : options;
  }
}

function taken(from: unknown): TypeError {
  return typeError(
    'ERR_RL_INVALID_ARGUMENT',
    `The factory of a partition of RateLimitPartition.get… was called on ${show(from)}. Call it on its partition: ` +
      'partition.factory(key), or (key) => partition.factory(key) where a function is needed.',
  );
}

/** Whether a partition is one of the helpers' of this very copy of the package. */
export function isHelperPartition(partition: object): partition is HelperPartition<unknown, LimiterOptions> {
  return partition instanceof HelperPartition;
}
