import { Logger } from '@nestjs/common';
import type { Clock } from '@ratelease/limiters';
import { createHmac, randomBytes } from 'node:crypto';
import type { CompiledPolicy } from '../policies/compiled-policy.js';
import { IntervalTally } from './interval-tally.js';

const HASH_CHARACTERS = 12;

/**
 * Logs refusals on the level debug: the first at once, then one line per policy and interval with their number.
 * Under attack it grows with the number of policies, not of clients.
 */
export class RejectionLog {
  readonly #logger = new Logger('RateLimiting');
  readonly #tallies: IntervalTally<CompiledPolicy>;
  /** Hashes can be compared within this process, and lead back to no key. */
  readonly #secret: Buffer | undefined;

  /** @param hashesKeys - whether the lines name the key of the last refusal, hashed. */
  constructor(clock: Clock, hashesKeys: boolean) {
    this.#tallies = new IntervalTally(clock);
    this.#secret = hashesKeys ? randomBytes(HASH_CHARACTERS) : undefined;
  }

  /** @param key - of the refused partition. */
  note(policy: CompiledPolicy, reason: string, key: () => unknown): void {
    if (isDebugOff()) return;
    const count = this.#tallies.note(policy);
    if (count === undefined) return;
    this.#logger.debug({
      message: 'Requests were refused.',
      policy: policy.name,
      reason,
      count,
      ...(this.#secret === undefined ? {} : { key: hashed(key(), this.#secret) }),
    });
  }
}

/**
 * Whether nobody would see a line. Nest 11 says of every level that it is off until the application has chosen some, of
 * the highest as well, and writes them all.
 */
function isDebugOff(): boolean {
  return !Logger.isLevelEnabled('debug') && Logger.isLevelEnabled('fatal');
}

function hashed(key: unknown, secret: Buffer): string {
  return createHmac('sha256', secret).update(String(key)).digest('hex').slice(0, HASH_CHARACTERS);
}
