import { Injectable } from '@nestjs/common';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import type { PolicyDefinition } from './policy-definition.js';

/**
 * Where modules add limits of their own that apply wherever nothing is disabled, together with the global limiter
 * and the endpoint's policies: all of them are taken, or none. Inject it in the constructor of a module or a
 * provider, so that the limit is there when the policies are compiled.
 *
 * Unlike the global limiter such a limit isn't moved forward by `globalPhase`, nor by endpoints whose phase is
 * `'guard'`: it is taken when the user is known.
 */
@Injectable()
export class AdditionalLimits {
  readonly #limits = new Map<string, PolicyDefinition>();
  #isTaken = false;

  /**
   * Adds a limit in any form that a policy has.
   *
   * @param name - what exceptions and the `RateLimit` fields call it.
   * @throws RateLimitingConfigurationError `ERR_RL_DUPLICATE_POLICY` - when a limit of that name was added before;
   * `ERR_RL_INVALID_POLICY` - when the policies are compiled already.
   */
  add(name: string, limit: PolicyDefinition): void {
    if (this.#isTaken) {
      throw new RateLimitingConfigurationError(
        'ERR_RL_INVALID_POLICY',
        `The additional limit ${JSON.stringify(name)} comes too late: the policies are compiled. Add it in a constructor.`,
      );
    }
    if (this.#limits.has(name)) {
      throw new RateLimitingConfigurationError(
        'ERR_RL_DUPLICATE_POLICY',
        `There is already an additional limit ${JSON.stringify(name)}. Give each a name of its own, and import its module once.`,
      );
    }
    this.#limits.set(name, limit);
  }

  /** All of them; from now on it is too late for others. @internal */
  take(): ReadonlyMap<string, PolicyDefinition> {
    this.#isTaken = true;
    return this.#limits;
  }
}
