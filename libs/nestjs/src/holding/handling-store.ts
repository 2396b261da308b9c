import type { Holder } from './holder.js';

/**
 * Finds the holder of a handling by the object that stands for the handling. The holder hangs on that object, under
 * a key that only this application has: a map that doesn't keep its keys alive costs several times as much.
 */
export class HandlingStore {
  readonly #key = Symbol('ratelease.handling');

  get(identity: object): Holder | undefined {
    return (identity as Record<symbol, Holder | undefined>)[this.#key];
  }

  set(identity: object, holder: Holder): void {
    (identity as Record<symbol, Holder>)[this.#key] = holder;
  }
}
