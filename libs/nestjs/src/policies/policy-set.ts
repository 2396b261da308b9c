import { createChainedPartitionedRateLimiter } from '@ratelease/limiters';
import type { HandlingContext } from '../context/handling-context.js';
import type { CompiledPolicy, ContextLimiter } from './compiled-policy.js';

/** The name of the global limiter, in exceptions and fields. */
export const GLOBAL = 'global';

/** Policies that are taken together: all of them, or none. */
export class PolicySet {
  readonly policies: readonly [CompiledPolicy, ...CompiledPolicy[]];
  /** One limiter for all: nothing is held while waiting, and nothing is charged for a refusal. */
  readonly limiter: ContextLimiter;
  readonly mayWait: boolean;
  readonly holdsPermits: boolean;
  readonly #global: CompiledPolicy | undefined;

  /**
   * @param policies - in the order in which they are asked: the global limiter first.
   * @param global - which of them is the global limiter, if any.
   */
  constructor(policies: readonly [CompiledPolicy, ...CompiledPolicy[]], global: CompiledPolicy | undefined) {
    this.policies = policies;
    this.#global = global;
    this.mayWait = policies.some((policy) => policy.mayWait);
    this.holdsPermits = policies.some((policy) => policy.holdsPermits);
    const limiters = policies.map((policy) => policy.limiter);
    this.limiter = limiters.length === 1 ? limiters[0]! : createChainedPartitionedRateLimiter(...limiters);
  }

  isGlobal(policy: CompiledPolicy): boolean {
    return policy === this.#global;
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
