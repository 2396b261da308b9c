import type { RateLimitLease } from '@ratelease/limiters';
import type { WaitingPlace } from './waiting-places.js';
import { WaitingPlaces } from './waiting-places.js';

/** What bounds a wait. */
export interface WaitBounds {
  readonly signal: AbortSignal | undefined;
  readonly maxWaitMs: number;
}

type Answer = RateLimitLease | Promise<RateLimitLease>;

/** Asks the limiters that there are at the moment of the call. */
type Ask = (bounds: () => WaitBounds) => Answer;

/**
 * Those who wait in limiters that may be replaced meanwhile. They change to the new ones in their order, before
 * anybody who comes later is asked: left behind, they would see all others pass.
 */
export class RenewableWaits {
  readonly #places = new WaitingPlaces();
  readonly #waits = new Set<Wait>();

  /** @param bounds - called before a wait, for what bounds it; never more than once. */
  ask(ask: Ask, bounds: () => WaitBounds): Answer {
    let wait: Wait | undefined;
    let answer: Answer;
    try {
      answer = ask(() => {
        const given = bounds();
        wait = new Wait(ask, given, this.#places.enter(given.signal));
        return wait.bounds;
      });
    } catch (error) {
      if (wait !== undefined) this.#places.leave(wait.given.signal);
      throw error;
    }
    if (wait === undefined) return answer;
    if (answer instanceof Promise) return this.#follow(wait, answer);
    this.#places.leave(wait.given.signal);
    return answer;
  }

  /** The limiters have been replaced. */
  renew(): void {
    const former = this.#places.renew();
    for (const wait of [...this.#waits]) wait.goTo(this.#places.at(wait.given.signal));
    // Not before all have asked: who leaves the old limiter lets the next there pass, who is to ask the new one.
    for (const { controller } of former) controller.abort();
  }

  async #follow(wait: Wait, answer: Promise<RateLimitLease>): Promise<RateLimitLease> {
    this.#waits.add(wait);
    wait.follow(answer);
    try {
      return await wait.answer;
    } finally {
      this.#waits.delete(wait);
      this.#places.leave(wait.given.signal);
    }
  }
}

class Wait {
  /** Of the limiter in which the wait ends. */
  readonly answer: Promise<RateLimitLease>;
  readonly given: WaitBounds;
  readonly #ask: Ask;
  #place: WaitingPlace;
  #settle: (answer: Answer) => void = () => undefined;

  constructor(ask: Ask, given: WaitBounds, place: WaitingPlace) {
    this.#ask = ask;
    this.given = given;
    this.#place = place;
    this.answer = new Promise((resolve) => (this.#settle = resolve));
  }

  /** What bounds the wait in one limiter. */
  get bounds(): WaitBounds {
    return { signal: this.#place.controller.signal, maxWaitMs: this.given.maxWaitMs };
  }

  follow(answer: Promise<RateLimitLease>): void {
    const place = this.#place;
    answer.then(
      // What a limiter grants to somebody who is leaving it belongs to nobody.
      (lease) => (place === this.#place ? this.#settle(lease) : lease.dispose()),
      () => place === this.#place && this.#settle(answer),
    );
  }

  /** Asks anew, from another place. */
  goTo(place: WaitingPlace): void {
    if (place === this.#place) return;
    this.#place = place;
    // Asking throws where the count is above a limit.
    const ask = async (): Promise<RateLimitLease> => this.#ask(() => this.bounds);
    this.follow(ask());
  }
}
