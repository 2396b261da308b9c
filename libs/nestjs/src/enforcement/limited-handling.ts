import type { Observable, Subscriber, Subscription, Unsubscribable } from 'rxjs';
import { map } from 'rxjs';
import type { Phase } from '../endpoints/endpoint-plan.js';
import type { Holder } from '../holding/holder.js';
import type { Verdict } from '../holding/verdict.js';
import { isFailed } from '../holding/verdict.js';
import { beginsStream, resolveInfoOf } from '../transports/resolve-info.js';
import { HeldIterator, isStream } from '../transports/held-iterator.js';

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
  start(phases: readonly Phase[], judge: (phase: Phase) => Verdict): void {
    for (let index = 0; index < phases.length; index++) {
      const phase = phases[index]!;
      const verdict = judge(phase);
      if (isFailed(verdict)) return this.#subscriber.error(verdict.error);
      if (verdict instanceof Promise)
        return this.#await(verdict, phase, () => this.start(phases.slice(index + 1), judge));
      // The response was sent already: nothing more may come, not even completion.
      if (!verdict) return this.#end();
    }
    this.#run();
  }

  /** The subscription's teardown: after completion and failure, too. */
  unsubscribe(): void {
    this.#holder.abandon(this.#phase ?? afterPipes(this.#holder));
    this.#handler?.unsubscribe();
    this.#end();
  }

  #await(decision: Promise<boolean>, phase: Phase, goOn: () => void): void {
    this.#phase = phase;
    decision.then(
      (goesOn) => {
        this.#phase = undefined;
        if (!goesOn) this.#end();
        else if (!this.#subscriber.closed) goOn();
      },
      (error: unknown) => {
        this.#phase = undefined;
        this.#subscriber.error(error);
      },
    );
  }

  #run(): void {
    // A client that left before, during a later guard, took its permits along: nothing may run without them. Who
    // needs none is served, as without a limit.
    const { hasHeld, context } = this.#holder;
    if (hasHeld && context.abortReason !== undefined) return this.#subscriber.error(context.abortReason);
    this.#handler = this.#held(this.#handle()).subscribe(this.#subscriber);
  }

  /** A GraphQL subscription is a handler that ends at once, with a stream that lives on. */
  #held(results: Observable<unknown>): Observable<unknown> {
    const { type, execution } = this.#holder.context;
    if (type !== 'graphql') return results;
    // Of another operation's result nobody reads a stream: it would never end.
    const info = resolveInfoOf(execution);
    if (info === undefined || !beginsStream(info)) return results;
    return results.pipe(map((result) => (isStream(result) ? this.#follow(result) : result)));
  }

  #follow(stream: AsyncIterable<unknown>): AsyncIterable<unknown> {
    const held = new HeldIterator(stream, () => this.#holder.leave());
    this.#holder.enter();
    return held;
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#holder.leave();
  }
}

/** Where no phase of ours waits, the handler itself may wait, after its pipes: in the later of two that have begun. */
function afterPipes({ decisions }: Holder): Phase {
  return decisions.condition === undefined ? 'args' : 'condition';
}
