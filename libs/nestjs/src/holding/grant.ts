import type { RateLimitLease } from '@ratelease/limiters';
import type { PolicySet } from '../policies/policy-set.js';
import type { Observation } from '../visibility/observation.js';
import { endQuietly } from './end-quietly.js';

/** A granted lease with what was asked for, so that its end can be accounted for. */
export class Grant {
  readonly lease: RateLimitLease;
  readonly set: PolicySet;
  readonly permits: number;
  readonly #observation: Observation | undefined;

  constructor(lease: RateLimitLease, set: PolicySet, permits: number, observation?: Observation) {
    this.lease = lease;
    this.set = set;
    this.permits = permits;
    this.#observation = observation;
  }

  /** Gives the permits back; to be called once. */
  release(): void {
    this.#note();
    this.lease.dispose();
  }

  /** The same, where nobody is there who could be told of a failure. */
  releaseQuietly(): void {
    this.#note();
    endQuietly(this.lease, this.set);
  }

  #note(): void {
    this.set.noteReleased(this.permits);
    this.#observation?.released();
  }
}
