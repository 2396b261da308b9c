/**
 * The key under which a limiter with a managed lifetime is told whom to call when it ends, so that its partition
 * can go in the same instant and needn't be looked at again and again until then.
 */
export const whenEnded: unique symbol = Symbol.for('ratelease.when-ended') as never;

type Telling = (listener: () => void) => void;

/** Whether a limiter says by itself when it ends. */
export function saysWhenEnded(limiter: object): boolean {
  return typeof (limiter as Record<symbol, unknown>)[whenEnded] === 'function';
}

/** Has the listener called when the limiter ends, where it says so. */
export function listenForEnd(limiter: object, listener: () => void): void {
  if (saysWhenEnded(limiter)) (limiter as Record<symbol, Telling>)[whenEnded]!(listener);
}
