import type { Clock } from '@ratelease/limiters';
import { checkKnown } from '../errors/check-known.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { shown } from '../errors/shown.js';
import type { AlgorithmName } from './limiter-numbers.js';
import { checkNumbers, optionsOf } from './limiter-numbers.js';

/** The numbers of a policy, which may change while it lives. */
export class LiveNumbers {
  readonly #policy: string;
  readonly #algorithm: AlgorithmName;
  readonly #clock: Clock | undefined;
  #current: Readonly<Record<string, unknown>>;

  /** @throws RateLimitingConfigurationError `ERR_RL_INVALID_OPTION` - for bad numbers. */
  constructor(policy: string, algorithm: AlgorithmName, numbers: object, clock: Clock | undefined) {
    this.#policy = policy;
    this.#algorithm = algorithm;
    this.#clock = clock;
    this.#current = this.#checked(numbers);
  }

  /** What limiters are made with, and brought to. */
  get current(): object {
    return this.#current;
  }

  /**
   * Takes new numbers; what isn't named stays, and so does what is `undefined`: the types make no difference.
   *
   * @throws RateLimitingConfigurationError `ERR_RL_UNKNOWN_OPTION`, `ERR_RL_INVALID_OPTION` - and nothing changes.
   */
  change(changes: object): void {
    if (typeof changes !== 'object' || (changes as unknown) === null || Array.isArray(changes)) {
      throw new RateLimitingConfigurationError(
        'ERR_RL_INVALID_OPTION',
        `${this.#policy}: new numbers must be an object such as { permitLimit: 20 }, but got ${shown(changes)}.`,
      );
    }
    const problem = `${this.#policy}: ${this.#algorithm} can't change`;
    checkKnown(problem, changes, optionsOf(this.#algorithm));
    const named = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const changed = this.#checked({ ...this.#current, ...named });
    if (isQueued(changed) !== isQueued(this.#current)) {
      throw new RateLimitingConfigurationError(
        'ERR_RL_INVALID_OPTION',
        `${this.#policy}: whether there is a queue at all (queueLimit) can't change while the application runs. Restart it, ` +
          'or begin with a queueLimit of at least 1.',
      );
    }
    this.#current = changed;
  }

  #checked(numbers: object): Readonly<Record<string, unknown>> {
    try {
      checkNumbers(this.#algorithm, numbers, this.#clock);
      return numbers as Record<string, unknown>;
    } catch (cause) {
      const problem = cause instanceof Error ? cause.message : String(cause);
      throw new RateLimitingConfigurationError('ERR_RL_INVALID_OPTION', `${this.#policy}: ${problem}`, {
        cause,
      });
    }
  }
}

function isQueued({ queueLimit = 0 }: Readonly<Record<string, unknown>>): boolean {
  return Number(queueLimit) > 0;
}
