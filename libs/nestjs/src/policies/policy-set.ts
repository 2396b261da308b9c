import type { AcquiresOrWaits } from '@ratelease/limiters';
import {
  acquireOrWait,
  ChainedPartitionedRateLimiter,
  createChainedPartitionedRateLimiter,
  isPartitionedRateLimiter,
  RateLimitLease,
  refusedMember,
} from '@ratelease/limiters';
import type { HandlingContext } from '../context/handling-context.js';
import { endQuietly } from '../holding/end-quietly.js';
import { JoinedItems } from '../http/joined-items.js';
import { AboveLimitLease } from '../rejection/above-limit-lease.js';
import type { CompiledPolicy, ContextLimiter } from './compiled-policy.js';
import type { WaitBounds } from './renewable-waits.js';
import { RenewableWaits } from './renewable-waits.js';

export type { WaitBounds } from './renewable-waits.js';

/** The name of the global limiter, in exceptions and fields. */
export const GLOBAL = 'global';

type Asker = (
  context: HandlingContext,
  permits: number,
  wait: () => WaitBounds,
) => RateLimitLease | Promise<RateLimitLease>;

/** Policies that are taken together: all of them, or none. */
export class PolicySet {
  readonly policies: readonly [CompiledPolicy, ...CompiledPolicy[]];
  readonly mayWait: boolean;
  readonly holdsPermits: boolean;
  /** Whether one of them lets through where asking fails. */
  readonly mayFailOpen: boolean;
  /** For the field `RateLimit-Policy`. */
  readonly fieldItems = new JoinedItems();
  readonly #everywhere: readonly CompiledPolicy[];
  readonly #withoutFailing: () => PolicySet | null;
  readonly #waits = new RenewableWaits((lease) => endQuietly(lease, this));
  #ask: Asker;

  /**
   * @param policies - in the order in which they are asked: the global limiter first.
   * @param everywhere - the global limiter and what was added to it, in this set or not.
   * @param withoutFailing - finds the set of those among them that don't let through where asking fails.
   */
  constructor(
    policies: readonly [CompiledPolicy, ...CompiledPolicy[]],
    everywhere: readonly CompiledPolicy[],
    withoutFailing: () => PolicySet | null,
  ) {
    this.#withoutFailing = withoutFailing;
    this.mayFailOpen = policies.some(({ failsOpen }) => failsOpen);
    this.policies = policies;
    this.#everywhere = everywhere;
    this.mayWait = policies.some((policy) => policy.mayWait);
    this.holdsPermits = policies.some((policy) => policy.holdsPermits);
    this.#ask = askerOf(combined(policies), this.mayWait);
  }

  /**
   * Asks one limiter for all: nothing is held while waiting, and nothing is charged for a refusal.
   *
   * @param wait - called before a wait, for what bounds it.
   * @returns the lease, or the promise of one where the answer takes time.
   */
  ask(
    context: HandlingContext,
    permits: number,
    wait: () => WaitBounds,
  ): RateLimitLease | Promise<RateLimitLease> {
    if (!this.mayWait) return this.#ask(context, permits, wait);
    return this.#waits.ask((bounds) => this.#ask(context, permits, bounds), wait);
  }

  /** Whether a granted lease holds anything: those of rates don't, and nobody need wait for their end. */
  isHeld(lease: RateLimitLease): boolean {
    return this.holdsPermits && lease.dispose !== RateLimitLease.prototype.dispose;
  }

  /** A lease was granted. */
  noteGranted(permits: number): void {
    for (const { counters, holdsPermits } of this.policies) {
      counters.granted++;
      if (holdsPermits) counters.inUse += permits;
    }
  }

  /** A granted lease goes back. */
  noteReleased(permits: number): void {
    for (const { counters, holdsPermits } of this.policies) if (holdsPermits) counters.inUse -= permits;
  }

  /** A request begins to wait (1), or waits no longer (-1). */
  noteQueued(change: 1 | -1): void {
    for (const { counters, mayWait } of this.policies) if (mayWait) counters.queued += change;
  }

  /** The policy that a refused lease comes from; the first where nobody knows. */
  refusingPolicy(lease: RateLimitLease): CompiledPolicy {
    if (this.policies.length === 1) return this.policies[0];
    const member = lease instanceof AboveLimitLease ? lease.member : refusedMember(lease);
    return this.policies[member] ?? this.policies[0];
  }

  /** Those among them that don't let through where asking fails; `null` for none. */
  get withoutFailing(): PolicySet | null {
    return this.#withoutFailing();
  }

  /** The policies' limiters have been replaced. */
  renew(): void {
    this.#ask = askerOf(combined(this.policies), this.mayWait);
    this.#waits.renew();
  }

  /** Whether a policy is the global limiter, or was added to it, and not the endpoint's. */
  isGlobal(policy: CompiledPolicy): boolean {
    return this.#everywhere.includes(policy);
  }

  /** The endpoint's own policies. */
  get endpointPolicies(): readonly CompiledPolicy[] {
    return this.policies.filter((policy) => !this.isGlobal(policy));
  }

  /** Has every policy choose its partition, each once. A promise only where one of them answers with one. */
  choosePartitions(context: HandlingContext): void | Promise<void> {
    for (let index = 0; index < this.policies.length; index++) {
      const choice = this.policies[index]!.choosePartition(context);
      if (choice !== undefined) return choice.then(() => this.#chooseFrom(index + 1, context));
    }
  }

  async #chooseFrom(start: number, context: HandlingContext): Promise<void> {
    for (let index = start; index < this.policies.length; index++)
      await this.policies[index]!.choosePartition(context);
  }
}

function combined(policies: readonly CompiledPolicy[]): ContextLimiter {
  const limiters = policies.map(({ limiter }) => limiter);
  return limiters.length === 1 ? limiters[0]! : createChainedPartitionedRateLimiter(...limiters);
}

/** The cheapest way to ask a limiter: without a promise, and without what only a wait needs, where it knows how. */
function askerOf(limiter: ContextLimiter, mayWait: boolean): Asker {
  // Where nobody waits, a chain's refusals come without a promise too.
  if (!mayWait && limiter instanceof ChainedPartitionedRateLimiter)
    return (context, permits) => limiter.attemptAcquire(context, permits);
  if (acquireOrWait in limiter) {
    const asked = limiter as ContextLimiter & AcquiresOrWaits<HandlingContext>;
    return (context, permits, wait) => asked[acquireOrWait](context, permits, wait);
  }
  if (!mayWait && isPartitionedRateLimiter(limiter)) {
    return (context, permits) => limiter.attemptAcquire(context, permits);
  }
  return (context, permits, wait) => limiter.acquire(context, permits, wait());
}
