import { Logger } from '@nestjs/common';
import type { CompiledPolicy } from '../policies/compiled-policy.js';
import { IN_PROCESS } from '../policies/partition-store.js';

/** Says where the permits of each policy are counted, so that a store that is not asked doesn't go unnoticed. */
export class StoreLog {
  readonly #logger = new Logger('RateLimitingModule');

  /** To be called at the boot, when all policies are known. */
  tellAll(policies: readonly CompiledPolicy[]): void {
    const own = policies.filter(({ ownsLimiter }) => ownsLimiter);
    this.#tell(
      `${IN_PROCESS}:`,
      own.filter(({ isInProcess }) => isInProcess),
    );
    this.#tell(
      'where their partitions say, which the first request of each tells:',
      own.filter(({ isInProcess }) => !isInProcess),
    );
    this.#tell(
      'by limiters that were handed in:',
      policies.filter(({ ownsLimiter }) => !ownsLimiter),
    );
  }

  /** To be called when the first partition of a policy has told it. */
  tell(policyName: string, store: string): void {
    this.#logger.log(`Policy ${JSON.stringify(policyName)} counts ${store}.`);
  }

  #tell(place: string, policies: readonly CompiledPolicy[]): void {
    if (policies.length === 0) return;
    this.#logger.log(`Counted ${place} ${policies.map(({ name }) => name).join(', ')}.`);
  }
}
