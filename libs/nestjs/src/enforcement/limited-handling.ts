import type { Observable, Subscriber, Subscription, Unsubscribable } from 'rxjs';
import type { Phase } from '../endpoints/endpoint-plan.js';
import type { Holder } from '../holding/holder.js';

/**
 * One subscription to a limited handler: waits for its permits, then subscribes to the handler, and tells the
 * holder the end of both, whether they complete, fail or are unsubscribed.
 */
export class LimitedHandling implements Unsubscribable {
  readonly #holder: Holder;
  readonly #subscriber: Subscriber<unknown>;
  readonly #handle: () => Observable<unknown>;
  #phase: Phase | undefined = undefined;
  #handler: Subscription | undefined = undefined;
  #hasEnded = false;

  constructor(holder: Holder, subscriber: Subscriber<unknown>, handle: () => Observable<unknown>) {
    this.#holder = holder;
    this.#subscriber = subscriber;
    this.#handle = handle;
    holder.enter();
  }

  /** Takes the permits of the phases, one after the other, and then runs the handler. */
  start(phases: readonly Phase[], pass: (phase: Phase) => Promise<boolean>): void {
    if (phases.length === 0) this.#run();
    else void this.#passAll(phases, pass);
  }

  /** The subscription's teardown: after completion and failure, too. */
  unsubscribe(): void {
    // Where no phase of ours waits, the handler itself may wait, after its pipes.
    this.#holder.abandon(this.#phase ?? 'args');
    this.#handler?.unsubscribe();
    this.#end();
  }

  async #passAll(phases: readonly Phase[], pass: (phase: Phase) => Promise<boolean>): Promise<void> {
    try {
      for (const phase of phases) {
        this.#phase = phase;
        const goesOn = await pass(phase);
        this.#phase = undefined;
        // The response was sent already: nothing more may come, not even completion.
        if (!goesOn) return this.#end();
      }
    } catch (error) {
      this.#phase = undefined;
      return this.#subscriber.error(error);
    }
    if (!this.#subscriber.closed) this.#run();
  }

  #run(): void {
    // A client that left before, during a later guard, took its permits along: nothing may run without them.
    const { abortReason } = this.#holder.context;
    if (abortReason !== undefined) return this.#subscriber.error(abortReason);
    this.#handler = this.#handle().subscribe(this.#subscriber);
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#holder.leave();
  }
}
