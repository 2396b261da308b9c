import type { Clock } from '../clock.js';
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

  constructor(name: string, algorithm: PermitAlgorithm, settings: LimiterSettings) {
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
export interface LimiterKind<TOptions extends object> {
  /** The name of the limiter's class. */
  readonly name: string;
  /** All options that make a difference. */
  readonly fields: readonly (keyof TOptions & string)[];
  /**
   * Checks the options and copies them.
   * @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for options outside their range.
   */
  plan(options: TOptions): LimiterPlan;
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
