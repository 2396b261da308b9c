import type { MetadataName } from '../metadata-name.js';
import type { RateLimitQuota } from '../rate-limit-lease.js';
import { metadataKey, RateLimitLease } from '../rate-limit-lease.js';
import type { ChainLink } from './chain-link.js';

const REFUSAL = Symbol.for('ratelease.chain-refusal');

/** What a chain adds to the refusal of a member. */
interface RefusalFacts {
  readonly member: number;
  readonly retryAfterOfAllMs: number | undefined;
}

/** The refusal of a member of a chain, with the standing of all members. */
export class ChainRefusedLease extends RateLimitLease {
  readonly #lease: RateLimitLease;
  readonly #quota: readonly RateLimitQuota[];
  readonly [REFUSAL]: RefusalFacts;

  constructor(lease: RateLimitLease, quota: readonly RateLimitQuota[], facts: RefusalFacts) {
    super();
    this.#lease = lease;
    this.#quota = quota;
    this[REFUSAL] = facts;
  }

  override get isAcquired(): boolean {
    return false;
  }

  override get metadataNames(): Iterable<string> {
    return this.#lease.metadataNames;
  }

  override getMetadata<T>(name: MetadataName<T>): T | undefined;
  override getMetadata(name: string): unknown;
  override getMetadata(name: string | MetadataName<unknown>): unknown {
    return this.#lease.getMetadata(metadataKey(name));
  }

  override quota(): readonly RateLimitQuota[] {
    return this.#quota;
  }

  override dispose(): void {
    this.#lease.dispose();
  }
}

/** The refusals that chains of foreign limiters hand out as they are. */
const foreignRefusals = new WeakMap<RateLimitLease, RefusalFacts>();

/** Notes which member refused where its lease is handed out as it is. */
export function noteRefusal(lease: RateLimitLease, member: number): void {
  foreignRefusals.set(lease, { member, retryAfterOfAllMs: retryAfterOf(lease) });
}

/** Notes which member it was whose limit a count is above, where an error says that it is. */
export function noteAboveLimit(error: unknown, member: number): void {
  if ((error as { code?: unknown } | null)?.code !== 'ERR_RL_PERMIT_COUNT_ABOVE_LIMIT') return;
  Reflect.defineProperty(error as object, 'member', { value: member, configurable: true });
}

/** Dresses the refusal of a link: which member it was, and how all of them stand. */
export function refuseByLink(
  lease: RateLimitLease,
  refusing: ChainLink,
  links: readonly ChainLink[],
  permits: number,
): RateLimitLease {
  const quota: RateLimitQuota[] = [];
  for (const { participant, member } of links) {
    const { limit, remaining, resetAfterMs, windowMs } = participant.quota();
    // Who has no limit has nothing to tell; its grants are as silent.
    if (limit !== Infinity) quota.push({ limit, remaining, resetAfterMs, windowMs, member });
  }
  return new ChainRefusedLease(lease, quota, {
    member: refusing.member,
    retryAfterOfAllMs: longestRetryAfter(lease, refusing, links, permits),
  });
}

function longestRetryAfter(
  lease: RateLimitLease,
  refusing: ChainLink,
  links: readonly ChainLink[],
  permits: number,
): number | undefined {
  let longest = retryAfterOf(lease);
  for (const link of links) {
    if (link === refusing || link.canGrant(permits)) continue;
    const retryAfterMs = link.retryAfterMs(permits);
    if (retryAfterMs !== undefined) longest = Math.max(longest ?? 0, retryAfterMs);
  }
  return longest;
}

/** What a refusal says of when to come back. */
export function retryAfterOf(lease: RateLimitLease): number | undefined {
  const value = lease.getMetadata('RETRY_AFTER');
  return typeof value === 'number' ? value : undefined;
}

function factsOf(lease: RateLimitLease): RefusalFacts | undefined {
  return (lease as { [REFUSAL]?: RefusalFacts })[REFUSAL] ?? foreignRefusals.get(lease);
}

/**
 * Which member of the asked chain refused, counted from 0; 0 where no chain was asked.
 * @param refusal - a refused lease, or the error for a count above a member's limit.
 */
export function refusedMember(refusal: RateLimitLease | Error): number {
  const member =
    refusal instanceof Error ? (refusal as { member?: number }).member : factsOf(refusal)?.member;
  return member ?? 0;
}

/**
 * Whole milliseconds until the same request could pass all members of the asked chain: the longest of their
 * waits. `undefined` where none of those that refuse can tell.
 *
 * @param lease - a refused lease.
 */
export function retryAfterOfAll(lease: RateLimitLease): number | undefined {
  const facts = factsOf(lease);
  return facts === undefined ? retryAfterOf(lease) : facts.retryAfterOfAllMs;
}
