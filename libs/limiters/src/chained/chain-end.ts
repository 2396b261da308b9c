/**
 * The key under which a limiter says whether it, or a chain within it, has ended although the limiters behind it live
 * on: their permits are no longer to be had through it. A request that waits for a chain asks at its turn. Chains of
 * other loaded copies of this package are asked too.
 */
export const hasEnded: unique symbol = Symbol.for('ratelease.chain-has-ended') as never;

/** A limiter that may end before those it stands for. */
export interface Endable {
  readonly [hasEnded]: boolean;
}

/** Those among limiters that may end before those they stand for. */
export function endablesAmong(limiters: readonly object[]): readonly Endable[] {
  return limiters.filter(isEndable);
}

/** Whether a limiter says that it has ended, or a chain within it. */
export function isEnded(limiter: object): boolean {
  return isEndable(limiter) && limiter[hasEnded];
}

function isEndable(limiter: object): limiter is Endable {
  return hasEnded in limiter;
}

/** Whether one of them has ended. */
export function hasOneEnded(endables: readonly Endable[]): boolean {
  for (const endable of endables) if (endable[hasEnded]) return true;
  return false;
}
