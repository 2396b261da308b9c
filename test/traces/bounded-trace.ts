import * as fc from 'fast-check';

/** Long for a trace on a busy machine, and short enough for one to be reported before Jest ends its test without a word of it. */
const LONGEST_TRACE_MS = 30_000;

/**
 * A predicate of `fc.asyncProperty` that fails where a trace locks up: the property then tells seed and trace. What is
 * locked up can't be stopped, so that nothing runs after it, which it could disturb: no lesser trace is looked for.
 */
export function boundedTrace<TParameters extends unknown[]>(
  run: (...parameters: TParameters) => Promise<void>,
  longestMs = LONGEST_TRACE_MS,
): (...parameters: TParameters) => Promise<void> {
  let isLockedUp = false;
  return async (...parameters) => {
    if (isLockedUp) throw new fc.PreconditionFailure(true);
    let timer: NodeJS.Timeout | undefined = undefined;
    const lockedUp = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        isLockedUp = true;
        reject(new Error(`The trace has not ended within ${longestMs} ms: it is locked up.`));
      }, longestMs);
    });
    try {
      await Promise.race([run(...parameters), lockedUp]);
    } finally {
      clearTimeout(timer);
    }
  };
}
