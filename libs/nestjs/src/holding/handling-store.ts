import type { EndpointPlan } from '../endpoints/endpoint-plan.js';
import { Holder } from './holder.js';

/**
 * Finds what is known of a handling by the object that stands for the handling. It hangs on that object, under a key
 * that only this application has: a map that doesn't keep its keys alive costs several times as much.
 */
export class HandlingStore {
  readonly #key = Symbol('ratelease.handling');

  /** The holder of a handling, where it has to be kept. */
  get(identity: object): Holder | undefined {
    const known = this.#at(identity);
    return known instanceof Holder ? known : undefined;
  }

  set(identity: object, holder: Holder): void {
    (identity as Record<symbol, unknown>)[this.#key] = holder;
  }

  /** Whether a handling has passed all that a plan asks. */
  hasPassed(identity: object, plan: EndpointPlan): boolean {
    return this.#at(identity) === plan;
  }

  /** Notes that. A holder would live as long as the request, and half of what a limit costs is what lives so long. */
  pass(identity: object, plan: EndpointPlan): void {
    (identity as Record<symbol, unknown>)[this.#key] = plan;
  }

  #at(identity: object): unknown {
    return (identity as Record<symbol, unknown>)[this.#key];
  }
}
