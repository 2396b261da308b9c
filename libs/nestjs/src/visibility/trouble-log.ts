import { Logger } from '@nestjs/common';
import type { Clock } from '@ratelease/limiters';
import { IntervalTally } from './interval-tally.js';

/**
 * Warns of what an operator has to know while the application runs: limits that fail, and policies with too many
 * keys. One line per subject and interval, whatever happens meanwhile.
 */
export class TroubleLog {
  readonly #logger = new Logger('RateLimiting');
  readonly #failures: IntervalTally<string>;
  readonly #shadowFailures: IntervalTally<string>;
  readonly #full: IntervalTally<string>;
  readonly #failedEnds: IntervalTally<string>;

  constructor(clock: Clock) {
    this.#failures = new IntervalTally(clock);
    this.#shadowFailures = new IntervalTally(clock);
    this.#full = new IntervalTally(clock);
    this.#failedEnds = new IntervalTally(clock);
  }

  /** Requests were let through without a limit that failed. */
  noteLetThrough(policy: string, error: unknown): void {
    const count = this.#failures.note(policy);
    if (count === undefined) return;
    const message = 'A limit failed, and requests were let through without it.';
    this.#logger.warn({ message, policy, error: problemOf(error), count });
  }

  /** A policy in shadow mode failed, and nobody felt it. */
  noteShadowFailure(policy: string, error: unknown): void {
    const count = this.#shadowFailures.note(policy);
    if (count === undefined) return;
    this.#logger.warn({ message: 'A policy in shadow mode failed.', policy, error: problemOf(error), count });
  }

  /** Leases failed to end. */
  noteFailedEnd(policy: string, error: unknown): void {
    const count = this.#failedEnds.note(policy);
    if (count === undefined) return;
    this.#logger.error({ message: 'A lease failed to end.', policy, error: problemOf(error), count });
  }

  /** Requests with new keys were refused: as many keys live as the policy may have. */
  noteFull(policy: string, maxPartitions: number): void {
    const count = this.#full.note(policy);
    if (count === undefined) return;
    const message =
      'A policy has as many keys as it may have (maxPartitions): requests with new ones are refused. Either somebody ' +
      'invents keys, or there are more clients than were expected.';
    this.#logger.warn({ message, policy, maxPartitions, count });
  }
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
