import { WaitingPlaces } from './waiting-places.js';

/**
 * Those who wait for what code of the application has promised: a condition, a partition, a say on a refusal. That may
 * never come, and then nobody may be kept by it from leaving, nor the application from its end.
 */
export class PromisedAnswers {
  readonly #places = new WaitingPlaces();
  #end: Error | undefined = undefined;

  /**
   * Waits for an answer.
   *
   * @returns a promise that rejects with the reason of the signal, or of the end, where one of them comes first. An answer
   * that is there has a turn of the event loop to come before them.
   */
  wait<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiter = {
        end: (reason: unknown): void => {
          this.#places.leave(signal, waiter);
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- whatever the signal was aborted with
          reject(reason);
        },
      };
      const place = this.#places.enter(signal, waiter);
      answer.then(resolve, reject).finally(() => this.#places.leave(signal, waiter));
      const reason: unknown = this.#end ?? place.controller.signal.reason;
      if (reason !== undefined) setImmediate(() => waiter.end(reason));
    });
  }

  /** The application ends: who waits, and who comes later, waits no longer than for a turn of the event loop. */
  end(reason: Error): void {
    this.#end = reason;
    this.#places.end(reason);
  }
}
