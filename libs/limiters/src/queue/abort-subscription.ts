import { errorsOfEach, throwCollected } from '../errors.js';

/** Something that an abort ends. */
export interface Abortable {
  /** Ends it. Called once, while the signal's own `abort` event is dispatched. */
  onAbort(reason: unknown): void;
  /** Hands on what it leaves, once everything that the signal concerns has ended. */
  afterAbort(): void;
}

/** @throws the signal's reason - when it is aborted already. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw signal.reason;
}

/**
 * The one listener that this package keeps on a signal, whatever the number of its waiters: hundreds of them
 * may share one without a listener warning, and the listener goes with the last.
 */
export class AbortSubscription {
  readonly #signal: AbortSignal;
  /** Most signals have one. */
  #only: Abortable | null;
  /** All of them, once there were several; insertion-ordered, so that they are ended in the order they came. */
  #targets: Set<Abortable> | null = null;

  /** @internal */
  constructor(signal: AbortSignal, target: Abortable) {
    this.#signal = signal;
    this.#only = target;
    signal.addEventListener('abort', this);
  }

  /** @internal */
  add(target: Abortable): void {
    if (this.#targets === null) {
      this.#targets = new Set([this.#only!]);
      this.#only = null;
    }
    this.#targets.add(target);
  }

  /** The signal does not concern the target any more. */
  delete(target: Abortable): void {
    if (this.#targets !== null) this.#targets.delete(target);
    else if (this.#only === target) this.#only = null;
    if (this.#only === null && (this.#targets === null || this.#targets.size === 0)) this.#end();
  }

  /** @internal */
  handleEvent(): void {
    const targets = this.#targets === null ? [this.#only!] : [...this.#targets];
    this.#end();
    // Each of them, whatever one throws.
    const errors = errorsOfEach(targets, (target) => target.onAbort(this.#signal.reason));
    errors.push(...errorsOfEach(targets, (target) => target.afterAbort()));
    throwCollected(errors, 'Several requests failed to end when they were aborted.');
  }

  #end(): void {
    if (subscriptions.get(this.#signal) !== this) return;
    subscriptions.delete(this.#signal);
    this.#signal.removeEventListener('abort', this);
  }
}

const subscriptions = new WeakMap<AbortSignal, AbortSubscription>();

/**
 * From now on an abort of the signal ends the target. All targets of a signal share one listener, so that a limiter of
 * your own that listens this way takes a signal which thousands of requests share.
 *
 * @returns where the target has to be deleted when the signal no longer concerns it.
 * @throws the signal's reason - when it is aborted already: it would never tell.
 */
export function subscribeToAbort(signal: AbortSignal, target: Abortable): AbortSubscription {
  throwIfAborted(signal);
  let subscription = subscriptions.get(signal);
  if (subscription !== undefined) {
    subscription.add(target);
    return subscription;
  }
  subscription = new AbortSubscription(signal, target);
  subscriptions.set(signal, subscription);
  return subscription;
}
