import type { ContextType, ExecutionContext } from '@nestjs/common';
import type { RateLimitingContextType } from './rate-limiting-context.js';

// Nest's interface has the type parameters.
/* oxlint-disable typescript/no-unnecessary-type-parameters */

/** Stands for Nest's context where no handler was chosen: before routing, and in code outside handlers. */
export class OutsideExecution implements ExecutionContext {
  readonly #type: RateLimitingContextType;
  readonly #args: readonly unknown[];

  /**
   * @param args - as Nest has them for the type: request and response first over HTTP.
   */
  constructor(type: RateLimitingContextType, args: readonly unknown[]) {
    this.#type = type;
    this.#args = args;
  }

  /** `undefined`: there is no class yet. */
  getClass<T>(): T {
    return undefined as T;
  }

  /** `undefined`: there is no method yet. */
  getHandler<T>(): T {
    return undefined as T;
  }

  getArgs<T>(): T {
    return this.#args as T;
  }

  getArgByIndex<T>(index: number): T {
    return this.#args[index] as T;
  }

  getType<T extends string = ContextType>(): T {
    return this.#type as string as T;
  }

  switchToHttp(): ReturnType<ExecutionContext['switchToHttp']> {
    return {
      getRequest: () => this.getArgByIndex(0),
      getResponse: () => this.getArgByIndex(1),
      getNext: () => this.getArgByIndex(2),
    };
  }

  switchToRpc(): ReturnType<ExecutionContext['switchToRpc']> {
    return { getData: () => this.getArgByIndex(0), getContext: () => this.getArgByIndex(1) };
  }

  switchToWs(): ReturnType<ExecutionContext['switchToWs']> {
    return {
      getClient: () => this.getArgByIndex(0),
      getData: () => this.getArgByIndex(1),
      getPattern: () => this.getArgByIndex(2),
    };
  }
}
