import type { Clock } from '../../clock.js';
import { systemClock } from '../../clock.js';

/** Told of errors that nobody awaits, and whose they are: what the key of the partition is compared by. */
export type PartitionErrorHandler = (error: unknown, key: unknown) => void;

/**
 * A handler that throws nothing: whoever comes by as an error is told has nothing to do with it, and a sweep must come to
 * those behind. What the handler throws, a timer throws.
 */
export function reporter(handler: PartitionErrorHandler, clock: Clock): PartitionErrorHandler {
  return (error, key) => {
    try {
      handler(error, key);
    } catch (thrown) {
      throwLater(thrown, clock);
    }
  };
}

function throwLater(error: unknown, clock: Clock): void {
  const raise = (): never => {
    throw error;
  };
  try {
    clock.setTimer(raise, 0);
  } catch {
    // That clock can set none, or calls back at once.
    systemClock.setTimer(raise, 0);
  }
}

/** The settings of a partition table. */
export interface TableOptions {
  readonly clock: Clock;
  readonly idleTimeoutMs: number;
  /** `Infinity` where there is no cap. */
  readonly maxPartitions: number;
  /** Throws nothing. */
  readonly onError: PartitionErrorHandler | undefined;
}
