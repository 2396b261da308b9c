import type { Clock } from '../../clock.js';

/** Told of errors that nobody awaits. */
export type PartitionErrorHandler = (error: unknown, key: unknown) => void;

/** The settings of a partition table. */
export interface TableOptions {
  readonly clock: Clock;
  readonly idleTimeoutMs: number;
  /** `Infinity` where there is no cap. */
  readonly maxPartitions: number;
  readonly onError: PartitionErrorHandler | undefined;
}
