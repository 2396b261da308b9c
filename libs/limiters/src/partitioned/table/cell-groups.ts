import type { Clock } from '../../clock.js';
import type { LimiterOptions } from '../../engine/limiter-options.js';
import type { LimiterKind, LimiterPlan } from '../../engine/limiter-plan.js';
import { isSamePlan } from '../../engine/limiter-plan.js';
import type { CellPage } from './cell-page.js';
import { OpenPages } from './open-pages.js';

/** Options for which rows are kept, and the pages of their rows that have room. */
export class CellGroup {
  readonly kind: LimiterKind<LimiterOptions>;
  readonly options: LimiterOptions;
  readonly plan: LimiterPlan;
  readonly open = new OpenPages<CellPage>();

  constructor(kind: LimiterKind<LimiterOptions>, options: LimiterOptions, plan: LimiterPlan) {
    this.kind = kind;
    this.options = options;
    this.plan = plan;
  }
}

/** So many sets of options have pages of their own; partitions with yet others are kept as objects. */
const MOST_GROUPS = 16;
/** Rows of larger states would make pages too large. */
const MOST_CELLS = 64;

/** Finds the pages for the options of a partition. Most partitions of a table have the same few. */
export class CellGroups {
  readonly #groups: CellGroup[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The group of the options, or `null` where they need a limiter of its own.
   * @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for options outside their range.
   */
  groupFor(kind: LimiterKind<LimiterOptions>, options: LimiterOptions): CellGroup | null {
    for (const group of this.#groups) {
      if (group.kind === kind && isSamePlan(kind, group.options, options)) return group;
    }
    const plan = kind.plan({ ...options, clock: options.clock ?? this.#clock });
    const isFit =
      plan.clock === this.#clock && !plan.algorithm.isManual && plan.algorithm.cellCount <= MOST_CELLS;
    if (!isFit || this.#groups.length === MOST_GROUPS) return null;
    const group = new CellGroup(kind, { ...options }, plan);
    this.#groups.push(group);
    return group;
  }
}
