/** What a session or a group can own: anything with `Symbol.dispose` or `Symbol.asyncDispose`. */
export type Resource = Disposable | AsyncDisposable;

/** Resources that end together, the last one first. */
export class OwnedResources {
  readonly #resources = new Set<Resource>();

  add(resource: Resource): void {
    this.#resources.add(resource);
  }

  /**
   * Ends all of them, those that take time one after the other. What can end at once does so before the first
   * such wait.
   *
   * @returns what went wrong.
   */
  async dispose(): Promise<unknown[]> {
    const errors: unknown[] = [];
    const resources = [...this.#resources].reverse();
    this.#resources.clear();
    for (const resource of resources) {
      try {
        const ending = end(resource);
        // oxlint-disable-next-line no-await-in-loop -- what was taken later may need what was taken before
        if (ending !== undefined) await ending;
      } catch (error) {
        errors.push(error);
      }
    }
    return errors;
  }
}

/** Ends a resource; a promise only where that takes time. */
export function end(resource: Resource): PromiseLike<void> | undefined {
  if (Symbol.dispose in resource) {
    resource[Symbol.dispose]();
    return undefined;
  }
  return resource[Symbol.asyncDispose]();
}

/** Whether a value can be owned. */
export function isResource(value: unknown): value is Resource {
  if (typeof value !== 'object' && typeof value !== 'function') return false;
  const { [Symbol.dispose]: dispose, [Symbol.asyncDispose]: asyncDispose } = (value ?? {}) as Record<
    symbol,
    unknown
  >;
  return typeof dispose === 'function' || typeof asyncDispose === 'function';
}
