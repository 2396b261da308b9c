import type { HeldPermits } from '../leases/remote-lease.js';
import type { ProcessStates } from '../remote/process-states.js';
import type { LimiterDefinition } from '../remote/limiter-definition.js';
import type { LimiterGroup } from '../store/limiter-group.js';
import type { HeardWait } from '../remote/heard.js';
import type { LeaseKeeper } from './lease-keeper.js';
import type { WaitOutcome } from './wait-outcome.js';

/** A request as the server's concurrency limiters know it: by which name, and what it holds of them already. */
export class Claim {
  readonly #states: ProcessStates;
  readonly #permits: number;
  /** The limit that a request's own limiter of a name has now. */
  readonly #limitOf: (name: string) => number;
  /** Granted by the server's queues, before the others of the group are asked. */
  #held: HeldPermits[] = [];
  /** `id*permits`; empty until it has asked for a lease. */
  member = '';

  constructor(states: ProcessStates, permits: number, limitOf: (name: string) => number) {
    this.#states = states;
    this.#permits = permits;
    this.#limitOf = limitOf;
  }

  get holdsPermits(): boolean {
    return this.#held.length > 0;
  }

  /** Whether it has permits of a concurrency limiter, as far as is known here. */
  holds(group: LimiterGroup, definition: LimiterDefinition): boolean {
    const keeper = this.#keeper(group, definition);
    return this.#held.some((held) => held.keeper === keeper) && keeper.holds(this.member);
  }

  /** Whether all that it has are permits of limiters of the group. */
  isOf(group: LimiterGroup): boolean {
    const keepers = this.#states.keepers(group);
    return this.#held.every(({ keeper }) => keepers.includes(keeper));
  }

  /** To be called before it asks: under the name by which it holds something, else under a new one. */
  begin(): void {
    if (!this.holdsPermits) this.member = `${this.#states.store.nextId()}*${this.#permits}`;
  }

  /** To be called before it asks limiters without waiting for them. */
  asks(group: LimiterGroup): void {
    for (const keeper of this.#states.keepers(group)) keeper.asks(this.member);
  }

  /** To be called before it asks limiters that may let it wait: how the wait ends. */
  expects(group: LimiterGroup): Promise<WaitOutcome> {
    this.#states.notifications.start();
    return new Promise((settle) => {
      const expecting = { settle, limitOf: this.#limitOf, isKnownElsewhere: this.holdsPermits };
      for (const definition of group.concurrency)
        this.#keeper(group, definition).expect(this.member, expecting, definition.leaseTtlMs);
    });
  }

  /** It does not wait, or not any more. */
  forget(group: LimiterGroup): void {
    if (this.member !== '') for (const keeper of this.#states.keepers(group)) keeper.forget(this.member);
  }

  /** The limiters have granted what it asked for at `sinceMs`. */
  granted(group: LimiterGroup, sinceMs: number): void {
    // A request for no permits holds none.
    if (this.#permits === 0) return;
    for (const definition of group.concurrency) {
      if (this.holds(group, definition)) continue;
      // Not the one from before it asked: a keeper that had nothing to keep meanwhile is gone.
      const keeper = this.#keeper(group, definition);
      keeper.hold(this.member, sinceMs + definition.leaseTtlMs);
      this.#held.push({ keeper, member: this.member });
    }
  }

  /** It waits for one of the limiters, as all have answered. */
  waits(
    group: LimiterGroup,
    definition: LimiterDefinition,
    { standing, member, sinceMs }: HeardWait,
  ): LeaseKeeper {
    const keeper = this.#keeper(group, definition);
    for (const other of this.#states.keepers(group)) if (other !== keeper) other.disown(this.member);
    keeper.waits(this.member, standing[member]!, { sinceMs, leaseTtlMs: definition.leaseTtlMs });
    return keeper;
  }

  /** It was granted what it has waited for; the keeper holds that already. */
  grantedBy(keeper: LeaseKeeper): void {
    if (this.#permits > 0) this.#held.push({ keeper, member: this.member });
  }

  /** What it holds, for the lease that gives it back. */
  handOver(): HeldPermits[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }

  /** Gives back what it holds. */
  giveUp(): void {
    for (const { keeper, member } of this.handOver()) void keeper.release(member);
  }

  /** What limiters may have granted under a name must not stay. */
  abandon(group: LimiterGroup, member = this.member): void {
    if (member === '') return;
    const keepers = this.#states.keepers(group);
    for (const keeper of keepers) void keeper.abandon(member);
    this.#held = this.#held.filter((held) => held.member !== member || !keepers.includes(held.keeper));
  }

  #keeper({ partitionKey }: LimiterGroup, definition: LimiterDefinition): LeaseKeeper {
    return this.#states.keeper(partitionKey, definition);
  }
}
