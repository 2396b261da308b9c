import { aboveLimit } from '../checks.js';
import { ObjectDisposedError } from '../errors.js';
import type { Waiter } from '../queue/waiter.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { ChainParticipant, Reservation } from './chain-participant.js';
import { participantsOf, residentOf } from './chain-participant.js';
import { reserveEach, SharedSource, sourceOf } from './shared-source.js';

/** A participant, how often it takes part (a limiter may stand twice in a chain), and for which member. */
export class ChainLink {
  participant: ChainParticipant;
  /** Permits asked of it for each permit of the request. */
  times = 1;
  /** The index of the first of the chain's members that it belongs to. */
  readonly member: number;
  /** Where links take from the very same permits in different ways: all of these, which are asked and waited for as one. */
  shared: SharedSource | null = null;

  constructor(participant: ChainParticipant, member: number) {
    this.participant = participant;
    this.member = member;
  }

  /** A request begins to wait that involves it. */
  hold(waiter: Waiter): void {
    this.participant.hold(waiter);
    this.participant = residentOf(this.participant);
  }

  /** In whose queue a request waits for it. */
  get place(): ChainParticipant {
    return this.shared === null ? this.participant : this.shared.source;
  }

  /** The place of what it takes from in the order of creation. */
  get creationOrder(): number {
    return this.place.creationOrder;
  }

  /** Whether a request that waits for it waits for another one with it. */
  isOneWith(other: ChainLink): boolean {
    return this === other || (this.shared !== null && this.shared === other.shared);
  }

  /** The permits with which a request waits for it. */
  waitingPermits(asked: number): number {
    return this.shared === null ? asked * this.times : this.shared.demand(asked);
  }

  /** Whether a request could never be granted. */
  isBelow(asked: number): boolean {
    if (asked * this.times > this.participant.permitLimit) return true;
    return this.shared !== null && this.shared.demand(asked) > this.shared.source.permitLimit;
  }

  canGrant(asked: number): boolean {
    if (this.shared === null) return this.participant.canGrant(asked * this.times);
    return this.shared.canGrant(asked, this);
  }

  hasEnough(asked: number): boolean {
    return this.shared === null
      ? this.participant.hasEnough(asked * this.times)
      : this.shared.hasEnough(asked);
  }

  refuse(asked: number): RateLimitLease {
    return this.shared === null
      ? this.participant.refuse(asked * this.times)
      : this.shared.refuse(asked, this);
  }

  refusalToWait(asked: number, maxWaitMs: number, isReserving: boolean): RateLimitLease | null {
    const refusal = this.place.refusalToWait(this.waitingPermits(asked), maxWaitMs, isReserving);
    if (refusal !== null) this.noteRefusal();
    return refusal;
  }

  /** A request has been refused that waited for it. */
  noteRefusal(): void {
    this.shared?.noteRefusal();
  }

  retryAfterMs(asked: number): number | undefined {
    return this.place.retryAfterMs(this.waitingPermits(asked));
  }

  /** Takes for a request that reserves, for all links that it is one with; `null` where there isn't enough. */
  reserve(asked: number): readonly Reservation[] | null {
    if (this.shared !== null) return this.shared.reserve(asked);
    const reservation = this.participant.reserve(asked * this.times);
    return reservation === null ? null : [reservation];
  }

  /** The same for the request whose turn it is. */
  reserveInTurn(asked: number): readonly Reservation[] {
    return reserveEach(this.shared === null ? [this] : this.shared.links, asked);
  }
}

/**
 * The links of a chain, in order, or `null` where it has to ask one member after the other: one of them offers no
 * participants, or two take from the same permits in different ways and don't say how many they need.
 */
export function linksOf(limiters: readonly object[]): ChainLink[] | null {
  const links: ChainLink[] = [];
  for (let member = 0; member < limiters.length; member++) {
    const participants = participantsOf(limiters[member]!);
    if (participants === null) return null;
    for (const participant of participants) {
      const known = linkOf(participant, links);
      if (known === undefined) links.push(new ChainLink(participant, member));
      else known.times++;
    }
  }
  return links.some(isOverAnother) && !shareSources(links) ? null : links;
}

/**
 * The links of a chain that can decide on a request at once, or `null`; see {@link linksOf}.
 *
 * @throws RangeError - for a count that could never be granted.
 * @throws ObjectDisposedError - when a member was disposed.
 */
export function decidingLinksOf(limiters: readonly object[], permits: number): ChainLink[] | null {
  const links = linksOf(limiters);
  if (links === null) return null;
  assertWithinLimits(links, permits);
  assertAlive(links);
  return links;
}

/** Joins those that take from the same permits. Returns whether a chain can add up what they need. */
function shareSources(links: readonly ChainLink[]): boolean {
  for (const link of links) {
    if (link.shared !== null) continue;
    const source = sourceOf(link.participant);
    const sharing = links.filter((other) => sourceOf(other.participant).isSame(source));
    if (sharing.length === 1) continue;
    if (sharing.some(isSilent)) return false;
    const shared = new SharedSource(sharing);
    for (const each of sharing) each.shared = shared;
  }
  return true;
}

function isOverAnother({ participant }: ChainLink): boolean {
  return participant.takesFrom !== undefined;
}

/** Whether nobody can know how many permits it needs of another one. */
function isSilent({ participant }: ChainLink): boolean {
  for (let over = participant; over.takesFrom !== undefined; over = over.takesFrom)
    if (over.takesNow === undefined) return true;
  return false;
}

function linkOf(participant: ChainParticipant, links: readonly ChainLink[]): ChainLink | undefined {
  for (const link of links) if (link.participant.isSame(participant)) return link;
  return undefined;
}

/** @throws RangeError - for a count above the smallest limit, or where there can never be enough for two that share. */
export function assertWithinLimits(links: readonly ChainLink[], permits: number): void {
  for (const { participant, times, member, shared } of links) {
    if (permits * times > participant.permitLimit)
      throw aboveLimit(permits, Math.floor(participant.permitLimit / times), member);
    if (shared !== null && permits > shared.most) throw aboveLimit(permits, shared.most, member);
  }
}

/** @throws ObjectDisposedError - when a member was disposed. */
export function assertAlive(links: readonly ChainLink[]): void {
  for (const { participant } of links)
    if (participant.isDisposed) throw new ObjectDisposedError(participant.name);
}
