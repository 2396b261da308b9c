import type { RateLimitLease } from '@ratelease/limiters';

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
  readonly #waits = new Set<Wait>();

  /** @param bounds - called before a wait, for what bounds it; never more than once. */
  ask(ask: Ask, bounds: () => WaitBounds): Answer {
    let wait: Wait | undefined;
    const answer = ask(() => {
      wait = new Wait(ask, bounds());
      return wait.bounds;
    });
    if (wait === undefined) return answer;
    if (answer instanceof Promise) return this.#follow(wait, answer);
    wait.end();
    return answer;
  }

  /** The limiters have been replaced. */
  renew(): void {
    const moving = [...this.#waits];
    const leave = moving.map((wait) => wait.askAgain());
    // Not before all have asked: who leaves the old limiter lets the next there pass, who is to ask the new one.
    for (const each of leave) each();
  }

  async #follow(wait: Wait, answer: Promise<RateLimitLease>): Promise<RateLimitLease> {
    this.#waits.add(wait);
    wait.follow(answer);
    try {
      return await wait.answer;
    } finally {
      this.#waits.delete(wait);
      wait.end();
    }
  }
}

class Wait {
  /** Of the limiter in which the wait ends. */
  readonly answer: Promise<RateLimitLease>;
  readonly #ask: Ask;
  readonly #given: WaitBounds;
  #place = new AbortController();
  #settle: (answer: Answer) => void = () => undefined;

  constructor(ask: Ask, given: WaitBounds) {
    this.#ask = ask;
    this.#given = given;
    this.answer = new Promise((resolve) => (this.#settle = resolve));
    if (given.signal?.aborted === true) this.#abort();
    else given.signal?.addEventListener('abort', this.#abort);
  }

  /** What bounds the wait in one limiter. */
  get bounds(): WaitBounds {
    return { signal: this.#place.signal, maxWaitMs: this.#given.maxWaitMs };
  }

  follow(answer: Promise<RateLimitLease>): void {
    const place = this.#place;
    answer.then(
      // What a limiter grants to somebody who is leaving it belongs to nobody.
      (lease) => (place === this.#place ? this.#settle(lease) : lease.dispose()),
      () => place === this.#place && this.#settle(answer),
    );
  }

  /** @returns how to leave the former limiter. */
  askAgain(): () => void {
    const former = this.#place;
    if (former.signal.aborted) return () => undefined;
    this.#place = new AbortController();
    // Asking throws where the count is above a limit.
    const ask = async (): Promise<RateLimitLease> => this.#ask(() => this.bounds);
    this.follow(ask());
    return () => former.abort();
  }

  end(): void {
    this.#given.signal?.removeEventListener('abort', this.#abort);
  }

  readonly #abort = (): void => this.#place.abort(this.#given.signal?.reason);
}
