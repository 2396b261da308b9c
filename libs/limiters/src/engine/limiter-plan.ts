import { aboveLimit, requireOptions } from '../checks.js';
import type { Clock } from '../clock.js';
import { ObjectDisposedError } from '../errors.js';
import type { QueueProcessingOrder } from '../queue/wait-queue.js';
import type { PermitAlgorithm } from './algorithm.js';

/** The part of a plan that is not arithmetic. */
export interface LimiterSettings {
  readonly queueLimit: number;
  readonly queueProcessingOrder: QueueProcessingOrder;
  readonly clock: Clock;
}

/**
 * A limiter before it has a state: its options, checked and turned into arithmetic. Limiters may share one. It
 * repeats what every decision asks of its algorithm: all plans have one shape, algorithms have several.
 */
export class LimiterPlan {
  /** What the limiter is called in error messages. */
  readonly name: string;
  readonly algorithm: PermitAlgorithm;
  readonly limit: number;
  readonly isReplenishing: boolean;
  readonly queueLimit: number;
  readonly isNewestFirst: boolean;
  readonly clock: Clock;
  /** A copy of what it was made from. */
  readonly options: object;

  constructor(name: string, algorithm: PermitAlgorithm, settings: LimiterSettings, options: object) {
    this.options = { ...options };
    this.name = name;
    this.algorithm = algorithm;
    this.limit = algorithm.limit;
    this.isReplenishing = algorithm.isReplenishing;
    this.queueLimit = settings.queueLimit;
    this.isNewestFirst = settings.queueProcessingOrder === 'newestFirst';
    this.clock = settings.clock;
  }
}

/** A kind of limiter: how its options become a plan. */
export class LimiterKind<TOptions extends object> {
  /** The name of the limiter's class. */
  readonly name: string;
  /** All options that make a difference. */
  readonly fields: readonly (keyof TOptions & string)[];
  readonly #make: (options: TOptions) => LimiterPlan;
  #last: LimiterPlan | null = null;

  /** @param make - checks the options and copies them. */
  constructor(
    name: string,
    fields: readonly (keyof TOptions & string)[],
    make: (options: TOptions) => LimiterPlan,
  ) {
    this.name = name;
    this.fields = fields;
    this.#make = make;
  }

  /**
   * The plan for options. Limiters are often made by the thousand with the same: they share it.
   * @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for options outside their range.
   */
  plan(options: TOptions): LimiterPlan {
    requireOptions(this.name, options);
    if (this.#last === null || !isSamePlan(this, this.#last.options as TOptions, options)) {
      this.#last = this.#make(options);
    }
    return this.#last;
  }
}

/** Whether two sets of options make the same limiter. */
export function isSamePlan<TOptions extends object>(
  kind: LimiterKind<TOptions>,
  one: TOptions,
  other: TOptions,
): boolean {
  for (const field of kind.fields) if (!Object.is(one[field], other[field])) return false;
  return true;
}

/** The error for a request that can't be considered: above the limit, or else after the end of the limiter. */
export function misuseOf({ limit, name }: LimiterPlan, permits: number): Error {
  return permits > limit ? aboveLimit(permits, limit) : new ObjectDisposedError(name);
}
