/*
 * Everything that the limiters use of their host beyond the language: Node, browsers, Deno, Bun and workers all
 * have it. For compiling only; the published declarations refer to the user's own AbortSignal.
 */

interface AbortSignal {
  readonly aborted: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- as in the DOM's and in Node's declarations
  readonly reason: any;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: AbortListener, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}

type AbortListener = (() => void) | { handleEvent(): void };

declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

/** What setTimeout returns differs between hosts; only Node's has `unref`. */
interface HostTimer {
  unref?(): unknown;
}

declare function setTimeout(callback: () => void, delayMs: number): HostTimer;
declare function clearTimeout(timer: HostTimer | undefined): void;
declare function queueMicrotask(callback: () => void): void;

declare const performance: { now(): number };

declare const crypto: { getRandomValues<T extends Int32Array>(array: T): T };
