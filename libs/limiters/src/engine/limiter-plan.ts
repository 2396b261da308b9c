import type { Clock } from '../clock.js';
import type { QueueProcessingOrder } from '../queue/wait-queue.js';
import type { PermitAlgorithm } from './algorithm.js';

/** A limiter before it has a state: its options, checked and turned into arithmetic. Limiters may share one. */
export interface LimiterPlan {
  /** What the limiter is called in error messages. */
  readonly name: string;
  readonly algorithm: PermitAlgorithm;
  readonly queueLimit: number;
  readonly queueProcessingOrder: QueueProcessingOrder;
  readonly clock: Clock;
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
