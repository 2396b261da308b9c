import type { Clock } from '../../clock.js';

/** Told of errors that nobody awaits. */
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
      clock.setTimer(() => {
        throw thrown;
      }, 0);
    }
  };
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
