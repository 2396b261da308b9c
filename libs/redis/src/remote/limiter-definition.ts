import type { Clock, RateLimitPartition } from '@ratelease/limiters';
import type { AlgorithmName } from '../scripts/compose-script.js';

/** What a limiter answers when the store can't be asked. */
export type WhenUnavailable = 'allow' | 'deny' | 'local';

/** How a limiter behaves when the store can't be asked. */
export interface FailurePolicy {
  readonly whenUnavailable: WhenUnavailable;
  readonly commandTimeoutMs: number;
  /** How long a refusal is remembered at most; 0: not. */
  readonly refusalCacheMs: number;
}

/** A limiter before it has a key: its options, checked and turned into what the scripts take. */
export interface LimiterDefinition extends FailurePolicy {
  /** The later it was made, the higher: of two of one name the later one counts. */
  readonly revision: number;
  readonly algorithm: AlgorithmName;
  /** What its fields in the hash of a partition begin with, and how it is known to other processes. */
  readonly name: string;
  /** Its numbers, as arguments of the scripts. */
  readonly numbers: readonly string[];
  readonly limit: number;
  /** The window of its quota in milliseconds; `undefined` for concurrency. */
  readonly windowMs: number | undefined;
  /** Whether what is granted comes back at a moment of its own: windows, not buckets. */
  readonly returnsAtEnd: boolean;
  readonly queueLimit: number;
  /** How many permits a process may reserve for requests to come; 0: none. */
  readonly reserveAhead: number;
  /** Over how many processes the limit is divided where each has its share. */
  readonly instances: number;
  readonly isNewestFirst: boolean;
  /** How long a lease lasts unless it is renewed; concurrency only. */
  readonly leaseTtlMs: number;
  readonly clock: Clock;
  /** Whether the clock may be replaced by that of the partitioned limiter. */
  readonly usesDefaultClock: boolean;
  /** This process' share of the limit, for `'local'`. */
  readonly localLimit: number;
  /** The partition of a limiter in this process with that share of the limit. */
  localPartition(key: string, clock: Clock): RateLimitPartition<string>;
  /** µs for which permits may be reserved that come back after so many µs, so that windows hold what they promise. */
  reservedForUs(resetUs: number): number;
}

const SETTINGS = [
  'name',
  'limit',
  'queueLimit',
  'isNewestFirst',
  'leaseTtlMs',
  'clock',
  'whenUnavailable',
  'commandTimeoutMs',
  'refusalCacheMs',
  'reserveAhead',
  'instances',
] as const satisfies readonly (keyof LimiterDefinition)[];

/** Whether two definitions make the same limiter. */
export function isSameLimiter(one: LimiterDefinition, other: LimiterDefinition): boolean {
  if (one.numbers.join() !== other.numbers.join()) return false;
  return SETTINGS.every((setting) => one[setting] === other[setting]);
}

/** What the scripts take that end and renew leases: name, limit, lifetime, order. */
export function leaseNumbers(
  { name, numbers: [, , ttl, order] }: LimiterDefinition,
  limit: number,
): string[] {
  return [name, String(limit), ttl!, order!];
}
