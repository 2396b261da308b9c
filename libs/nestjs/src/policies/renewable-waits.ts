import type { RateLimitLease } from '@ratelease/limiters';
import type { Waiter, WaitingPlace } from './waiting-places.js';
import { WaitingPlaces } from './waiting-places.js';

/** What bounds a wait. */
export interface WaitBounds {
  readonly signal: AbortSignal | undefined;
  readonly maxWaitMs: number;
}

type Answer = RateLimitLease | Promise<RateLimitLease>;

type GiveBack = (lease: RateLimitLease) => void;

/** Asks the limiters that there are at the moment of the call. */
type Ask = (bounds: () => WaitBounds) => Answer;

/**
 * Those who wait in limiters that may be replaced meanwhile. They change to the new ones in their order, before
 * anybody who comes later is asked: left behind, they would see all others pass.
 */
export class RenewableWaits {
  readonly #places = new WaitingPlaces();
  readonly #waits = new Set<Wait>();
  readonly #giveBack: GiveBack;

  /** @param giveBack - takes a lease that comes when nobody waits for it any more; must not throw. */
  constructor(giveBack: GiveBack) {
    this.#giveBack = giveBack;
  }

  /** @param bounds - called before a wait, for what bounds it; never more than once. */
  ask(ask: Ask, bounds: () => WaitBounds): Answer {
    let wait: Wait | undefined;
    let answer: Answer;
    try {
      answer = ask(() => {
        const given = bounds();
        wait = new Wait(ask, given, this.#giveBack);
        return wait.enter(this.#places);
      });
    } catch (error) {
      if (wait !== undefined) this.#places.leave(wait.given.signal, wait);
      throw error;
    }
    if (wait === undefined) return answer;
    if (answer instanceof Promise) return this.#follow(wait, answer);
    this.#places.leave(wait.given.signal, wait);
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
      this.#places.leave(wait.given.signal, wait);
    }
  }
}

class Wait implements Waiter {
  /** Of the limiter in which the wait ends. */
  readonly answer: Promise<RateLimitLease>;
  readonly given: WaitBounds;
  readonly #ask: Ask;
  readonly #giveBack: GiveBack;
  /** `undefined` when it is over. */
  #place: WaitingPlace | undefined = undefined;
  #settle: (answer: Answer) => void = () => undefined;
  #fail: (reason: unknown) => void = () => undefined;

  constructor(ask: Ask, given: WaitBounds, giveBack: GiveBack) {
    this.#ask = ask;
    this.#giveBack = giveBack;
    this.given = given;
    this.answer = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#fail = reject;
    });
  }

  /** Begins, at a place for its signal. @returns what bounds the wait in one limiter. */
  enter(places: WaitingPlaces): WaitBounds {
    this.#place = places.enter(this.given.signal, this);
    return this.#boundsAt(this.#place);
  }

  #boundsAt({ controller }: WaitingPlace): WaitBounds {
    return { signal: controller.signal, maxWaitMs: this.given.maxWaitMs };
  }

  follow(answer: Promise<RateLimitLease>): void {
    const place = this.#place;
    answer.then(
      // What a limiter grants to somebody who is leaving it, or who has given up, belongs to nobody.
      (lease) => (place !== undefined && place === this.#place ? this.#settle(lease) : this.#giveBack(lease)),
      () => place === this.#place && this.#settle(answer),
    );
    if (place?.controller.signal.aborted === true)
      setImmediate(() => this.end(place.controller.signal.reason));
  }

  /** Not every limiter of an application's listens to the signal: who has given up doesn't wait for it. */
  end(reason: unknown): void {
    this.#place = undefined;
    this.#fail(reason);
  }

  /** Asks anew, from another place. */
  goTo(place: WaitingPlace): void {
    if (this.#place === undefined || place === this.#place) return;
    this.#place = place;
    // Asking throws where the count is above a limit.
    const ask = async (): Promise<RateLimitLease> => this.#ask(() => this.#boundsAt(place));
    this.follow(ask());
  }
}
