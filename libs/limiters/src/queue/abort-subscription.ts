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
class AbortSubscription {
  readonly #signal: AbortSignal;
  /** Insertion-ordered, so that the waiters of one signal are ended in the order they came. */
  readonly #targets = new Set<Abortable>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this);
  }

  add(target: Abortable): void {
    this.#targets.add(target);
  }

  delete(target: Abortable): void {
    this.#targets.delete(target);
    if (this.#targets.size > 0) return;
    this.#end();
  }

  handleEvent(): void {
    this.#end();
    const targets = [...this.#targets];
    for (const target of targets) target.onAbort(this.#signal.reason);
    for (const target of targets) target.afterAbort();
  }

  #end(): void {
    this.#signal.removeEventListener('abort', this);
    subscriptions.delete(this.#signal);
  }
}

const subscriptions = new WeakMap<AbortSignal, AbortSubscription>();

/** From now on an abort of the signal ends the target. */
export function subscribe(signal: AbortSignal, target: Abortable): void {
  let subscription = subscriptions.get(signal);
  if (subscription === undefined) {
    subscription = new AbortSubscription(signal);
    subscriptions.set(signal, subscription);
  }
  subscription.add(target);
}

/** The signal no longer concerns the target. */
export function unsubscribe(signal: AbortSignal, target: Abortable): void {
  subscriptions.get(signal)?.delete(target);
}
