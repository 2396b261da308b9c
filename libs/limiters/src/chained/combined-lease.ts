import { GrantedLease, HeldLease } from '../engine/granted-lease.js';
import { throwCollected } from '../errors.js';
import type { MetadataName } from '../metadata-name.js';
import type { RateLimitQuota } from '../rate-limit-lease.js';
import { metadataKey, RateLimitLease } from '../rate-limit-lease.js';
import type { ChainLink } from './chain-link.js';
import { Instant } from './instant.js';

const NO_LEASES: readonly RateLimitLease[] = Object.freeze([]);
const NO_ERRORS: readonly unknown[] = Object.freeze([]);
const SEVERAL = 'Several members of a chain failed.';

/** Disposes leases in reverse order of acquisition, all of them, and returns what went wrong. */
export function disposeInReverse(leases: readonly RateLimitLease[]): readonly unknown[] {
  let errors: unknown[] | null = null;
  let instant = new Instant();
  for (let index = leases.length - 1; index >= 0; index--) {
    const lease = leases[index]!;
    try {
      if (isHeld(lease)) {
        lease.disposeIn(instant);
        continue;
      }
      lease.dispose();
    } catch (error) {
      (errors ??= []).push(error);
    }
    // Nobody knows how long that took.
    instant = new Instant();
  }
  return errors ?? NO_ERRORS;
}

/** Whether a lease is one of ours that runs no code of others at its end, so that its clock needn't be read again. */
function isHeld(lease: RateLimitLease): lease is HeldLease {
  return lease.constructor === HeldLease;
}

/** The leases of all members of a chain as one. */
export class CombinedLease extends RateLimitLease {
  private leases: readonly RateLimitLease[];

  constructor(leases: readonly RateLimitLease[]) {
    super();
    this.leases = leases;
  }

  override get isAcquired(): boolean {
    return true;
  }

  override get metadataNames(): Iterable<string> {
    const names = new Set<string>();
    for (const lease of this.leases) for (const name of lease.metadataNames) names.add(name);
    return names;
  }

  override getMetadata<T>(name: MetadataName<T>): T | undefined;
  override getMetadata(name: string): unknown;
  override getMetadata(name: string | MetadataName<unknown>): unknown {
    const key = metadataKey(name);
    for (const lease of this.leases) {
      const value = lease.getMetadata(key);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  override quota(): readonly RateLimitQuota[] {
    // As many as there are leases, nearly always: one that grows by being pushed to makes room for seventeen.
    // oxlint-disable-next-line unicorn/no-new-array
    const all = new Array<RateLimitQuota>(this.leases.length);
    let count = 0;
    for (let index = 0; index < this.leases.length; index++) {
      const lease = this.leases[index]!;
      if (lease instanceof GrantedLease) {
        all[count++] = lease.quotaOf(this.memberOf(index, 0));
        continue;
      }
      for (const { limit, remaining, resetAfterMs, windowMs, member } of lease.quota())
        all[count++] = { limit, remaining, resetAfterMs, windowMs, member: this.memberOf(index, member) };
    }
    all.length = count;
    return all;
  }

  override dispose(): void {
    throwCollected(disposeInReverse(this.takeLeases()), 'Several leases of a chain failed to end.');
  }

  /** The leases, for the one who ends them. */
  protected takeLeases(): readonly RateLimitLease[] {
    const leases = this.leases;
    this.leases = NO_LEASES;
    return leases;
  }

  /** Which member of the chain an entry of the lease at an index belongs to, by its own member. */
  protected memberOf(index: number, _own: number): number {
    return index;
  }
}

/** The leases of all links of a chain. */
class LinksLease extends CombinedLease {
  private readonly links: readonly ChainLink[];

  constructor(leases: readonly RateLimitLease[], links: readonly ChainLink[]) {
    super(leases);
    this.links = links;
  }

  protected override memberOf(index: number): number {
    return this.links[index]!.member;
  }
}

/** Takes permits that are there from all links; {@link finishTaking} has to follow. */
export function takeFromAll(links: readonly ChainLink[], permits: number): RateLimitLease {
  if (!arePlain(links)) {
    return combine(
      links,
      takeEach(links, ({ participant, times }) => participant.take(permits * times)),
    );
  }
  // oxlint-disable-next-line unicorn/no-new-array -- one that grows by being pushed to makes room for seventeen
  const leases = new Array<RateLimitLease>(links.length);
  let taken = 0;
  try {
    for (; taken < links.length; taken++) {
      const { participant, times } = links[taken]!;
      leases[taken] = participant.take(permits * times);
    }
  } catch (error) {
    // Its clock has failed, or it is of another maker.
    return giveBack(leases.slice(0, taken), error);
  }
  return combine(links, leases);
}

/**
 * Takes from each link, first from those where that may throw: then nothing stays taken, but what one of them has changed
 * before stays, and who waited for that is served.
 */
export function takeEach(
  links: readonly ChainLink[],
  take: (link: ChainLink) => RateLimitLease,
): RateLimitLease[] {
  const taken = new Map<ChainLink, RateLimitLease>();
  try {
    for (const link of links) if (!isPlain(link)) taken.set(link, take(link));
    // Where it is reserved, the clock is read once more and may fail.
    for (const link of links) if (isPlain(link)) taken.set(link, take(link));
  } catch (error) {
    const errors = [...disposeInReverse([...taken.values()]), ...finishEach(links)];
    throwCollected([...errors, error], SEVERAL);
    throw error;
  }
  return links.map((link) => taken.get(link)!);
}

/** Takes permits that are there from all links for a request that is answered at once. */
export function takeAtOnce(links: readonly ChainLink[], permits: number): RateLimitLease {
  const lease = takeFromAll(links, permits);
  try {
    finishTaking(links);
  } catch (error) {
    // Nobody would get the lease.
    giveBack([lease], error);
  }
  return lease;
}

function giveBack(leases: readonly RateLimitLease[], error: unknown): never {
  throwCollected([...disposeInReverse(leases), error], SEVERAL);
  throw error;
}

/** Lets those be served who waited for what a taking has changed. */
export function finishTaking(links: readonly ChainLink[]): void {
  throwCollected(finishEach(links), SEVERAL);
}

function finishEach(links: readonly ChainLink[]): readonly unknown[] {
  let errors: unknown[] | null = null;
  for (const { participant } of links) {
    try {
      participant.afterTaking?.();
    } catch (error) {
      (errors ??= []).push(error);
    }
  }
  return errors ?? NO_ERRORS;
}

function arePlain(links: readonly ChainLink[]): boolean {
  for (const link of links) if (!isPlain(link)) return false;
  return true;
}

function isPlain({ participant }: ChainLink): boolean {
  return participant.afterTaking === undefined;
}

/** One lease over those of all links. */
export function combine(links: readonly ChainLink[], leases: readonly RateLimitLease[]): RateLimitLease {
  return new LinksLease(leases, links);
}
