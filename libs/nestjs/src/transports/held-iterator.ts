/** The events of a subscription. */
type Stream = AsyncIterable<unknown>;

/** Whether a handler's result is a stream that is read later. */
export function isStream(value: unknown): value is Stream {
  return (
    typeof (value as Partial<AsyncIterable<unknown>> | null | undefined)?.[Symbol.asyncIterator] ===
    'function'
  );
}

/**
 * The same stream, which tells its end: when it is done, fails, or isn't read any further. Whoever stops reading
 * need not wait until a generator comes to its next event; so the end is told when that is asked for.
 */
export class HeldIterator implements AsyncIterableIterator<unknown> {
  readonly #iterator: AsyncIterator<unknown>;
  #onEnd: (() => void) | undefined;

  constructor(stream: AsyncIterable<unknown>, onEnd: () => void) {
    this.#iterator = stream[Symbol.asyncIterator]();
    this.#onEnd = onEnd;
  }

  async next(...values: [] | [unknown]): Promise<IteratorResult<unknown>> {
    try {
      const result = await this.#iterator.next(...values);
      if (result.done === true) this.#end();
      return result;
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  async return(value?: unknown): Promise<IteratorResult<unknown>> {
    this.#end();
    return (await this.#iterator.return?.(value)) ?? { done: true, value };
  }

  async throw(error?: unknown): Promise<IteratorResult<unknown>> {
    this.#end();
    if (this.#iterator.throw === undefined) throw error;
    return this.#iterator.throw(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(): void {
    const onEnd = this.#onEnd;
    this.#onEnd = undefined;
    onEnd?.();
  }
}
