import { timerDelay } from './timer-delay.js';

/** Resolves when the promise has settled, or after so many milliseconds; rejects where it does. */
export async function settledWithin(promise: Promise<unknown>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timerDelay(timeoutMs));
  });
  try {
    await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
