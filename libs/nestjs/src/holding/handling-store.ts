import type { EndpointPlan } from '../endpoints/endpoint-plan.js';
import type { Holder } from './holder.js';

/**
 * Finds what is known of a handling by the object that stands for the handling. It hangs on that object, under a key
 * that only this application has: a map that doesn't keep its keys alive costs several times as much.
 *
 * Of a request it hangs on the state of its stream: that is the request's own, lives as long and is never replaced,
 * while a list of header fields may be, and may be shared by requests that are served within one. A property more on a
 * request of Express takes V8 longer than the decision, see `rawRequest`.
 */
export class HandlingStore {
  readonly #key = Symbol('ratelease.handling');

  /** The holder of a handling, where it has to be kept; or the plan that it has passed, all of it. */
  get(identity: object): Holder | EndpointPlan | undefined {
    return placeOf(identity)[this.#key];
  }

  /** Notes one of both. A holder lives as long as the request, and half of what a limit costs is what lives so long. */
  set(identity: object, known: Holder | EndpointPlan): void {
    placeOf(identity)[this.#key] = known;
  }
}

type Place = Record<symbol, Holder | EndpointPlan | undefined>;

function placeOf(identity: object): Place {
  return ((identity as { readonly _readableState?: object })._readableState ?? identity) as Place;
}
