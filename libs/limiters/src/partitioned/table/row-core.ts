import type { Cells } from '../../engine/algorithm.js';
import type { SharedPlace } from '../../engine/core-residents.js';
import { nextCreationOrder } from '../../engine/creation-order.js';
import { LimiterCore } from '../../engine/limiter-core.js';
import type { LimiterPlan } from '../../engine/limiter-plan.js';
import type { Declared } from './partition-page.js';

/** A core that stands for a row while a request deals with it, or, with waiters, as its resident. */
export class RowCore extends LimiterCore {
  /** What the partitioner declared for the request, for a refresh of options while somebody waits. */
  declared: Declared | null = null;
  readonly #place: SharedPlace;
  /** Where its state was at first; by this it is known as the resident. */
  readonly #homeAt: number;
  #at: number;
  #reading = 0;

  constructor(plan: LimiterPlan, place: SharedPlace, at: number) {
    super(plan, place);
    this.#place = place;
    this.#homeAt = at;
    this.#at = at;
  }

  protected override get at(): number {
    return this.#at;
  }

  protected override get reading(): number {
    return this.#reading;
  }

  protected override set reading(now: number) {
    this.#reading = now;
  }

  /** The core that speaks for the row now: it may have got waiters since this one was made for a request. */
  override get resident(): RowCore {
    return (this.#place.residents.residentAt(this.#homeAt) as RowCore | undefined) ?? this;
  }

  /** The other core that speaks for the row, if any; see {@link residentOf}. */
  get replacement(): RowCore | null {
    const { resident } = this;
    return resident === this ? null : resident;
  }

  protected override settle(): void {
    const { residents } = this.#place;
    if (residents.residentAt(this.#homeAt) === this) return;
    // A request holds its members in their order; when each of them came to be asked has been earlier, and varies.
    this.creationOrder = nextCreationOrder();
    residents.settle(this, this.#homeAt);
  }

  /** The row has the size of the old plan's state: the new one is kept here. */
  protected override moveTo(cells: Cells): void {
    this.settle();
    this.cells = cells;
    this.#at = 0;
  }
}
