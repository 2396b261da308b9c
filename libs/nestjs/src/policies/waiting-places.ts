/**
 * What stands for all who wait under one signal: they are ended together, before any of them gets what another leaves,
 * and the signal has one listener, however many they are.
 */
export interface WaitingPlace {
  /** Of the signal that limiters see. It is aborted with the given one. */
  readonly controller: AbortController;
}

/** Somebody who waits. */
export interface Waiter {
  /** The signal has been aborted, and whoever listens to it has had a turn of the event loop to answer. */
  end(reason: unknown): void;
}

interface SharedPlace extends WaitingPlace {
  readonly waiters: Set<Waiter>;
}

/**
 * The places of all who wait, by the signal that they wait under, if any. They do what `AbortSignal.any` would, of which a
 * signal that lives long keeps something for each that was ever made of it, on Node.js 20.
 */
export class WaitingPlaces {
  readonly #places = new Map<AbortSignal | undefined, SharedPlace>();

  /** One more waits under a signal. */
  enter(given: AbortSignal | undefined, waiter: Waiter): WaitingPlace {
    let place = this.#places.get(given);
    if (place === undefined) {
      place = { controller: new AbortController(), waiters: new Set() };
      if (given?.aborted === true) place.controller.abort(given.reason);
      else given?.addEventListener('abort', this.#abort);
      this.#places.set(given, place);
    }
    place.waiters.add(waiter);
    return place;
  }

  /** One waits no longer. */
  leave(given: AbortSignal | undefined, waiter: Waiter): void {
    const place = this.#places.get(given);
    if (place?.waiters.delete(waiter) !== true || place.waiters.size > 0) return;
    this.#places.delete(given);
    given?.removeEventListener('abort', this.#abort);
  }

  /** Where those under a signal wait at present. */
  at(given: AbortSignal | undefined): WaitingPlace {
    return this.#places.get(given)!;
  }

  /** Everybody gets another place. @returns the former ones, to be aborted when all have gone. */
  renew(): readonly WaitingPlace[] {
    const former: WaitingPlace[] = [];
    for (const [given, place] of this.#places) {
      if (place.controller.signal.aborted) continue;
      former.push(place);
      this.#places.set(given, { controller: new AbortController(), waiters: place.waiters });
    }
    return former;
  }

  /** Ends all waits. */
  end(reason: Error): void {
    for (const place of [...this.#places.values()]) endAll(place, reason);
  }

  readonly #abort = (event: Event): void => {
    const given = event.target as AbortSignal;
    const place = this.#places.get(given);
    if (place !== undefined) endAll(place, given.reason);
  };
}

function endAll({ controller, waiters }: SharedPlace, reason: unknown): void {
  controller.abort(reason);
  // Those who were answered, by a grant in the same moment too, have left by then.
  setImmediate(() => {
    for (const waiter of waiters) waiter.end(reason);
  });
}
