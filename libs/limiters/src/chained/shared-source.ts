import { errorsOfEach, throwCollected } from '../errors.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { ChainLink } from './chain-link.js';
import type { ChainParticipant, Reservation } from './chain-participant.js';

/**
 * Links of a chain that take from the very same permits in different ways: a limiter, and one that is linked to it. What
 * is enough for each need not be enough for all, so they are asked for the sum, and a request waits for it once. Two
 * requests that waited for one part while they hold the other would wait for each other.
 */
export class SharedSource {
  readonly links: readonly ChainLink[];

  constructor(links: readonly ChainLink[]) {
    this.links = links;
  }

  /** Whose permits they are. */
  get source(): ChainParticipant {
    return sourceOf(this.links[0]!.participant);
  }

  /** The most permits that a request can ask for, before any of those over another has what it needs; -1: not even none. */
  get most(): number {
    const direct = this.links.filter(isDirect).reduce((sum, { times }) => sum + times, 0);
    // The others carry any number by one.
    const left = this.source.permitLimit - this.links.filter((link) => !isDirect(link)).length;
    if (left < 0) return -1;
    return direct === 0 ? Infinity : Math.floor(left / direct);
  }

  /** The permits that all of them need together as things are. */
  demand(asked: number): number {
    return this.#demandUpTo(asked, null);
  }

  /** Whether a newcomer would be granted by those up to a link. */
  canGrant(asked: number, last: ChainLink): boolean {
    if (!isDirect(last) && neededBy(last, asked) === 0) return true;
    return this.source.canGrant(this.#demandUpTo(asked, last));
  }

  hasEnough(asked: number): boolean {
    return this.needsNothing(asked) || this.source.hasEnough(this.demand(asked));
  }

  /** Whether nothing is needed of the source, not even that a permit is free. */
  needsNothing(asked: number): boolean {
    return this.links.every((link) => !isDirect(link) && neededBy(link, asked) === 0);
  }

  refuse(asked: number, refusing: ChainLink): RateLimitLease {
    noteRefusalOf(refusing.participant);
    return this.source.refuse(this.#demandUpTo(asked, refusing));
  }

  /** A request has been refused that waited for all of them. */
  noteRefusal(): void {
    for (const { participant } of this.links) noteRefusalOf(participant);
  }

  /** Takes for all of them, or for none: a part of it would be held while somebody else holds the other. */
  reserve(asked: number): readonly Reservation[] | null {
    if (this.needsNothing(asked)) return reserveEach(this.links, asked);
    const whole = this.source.reserve(this.demand(asked));
    if (whole === null) return null;
    let parts: readonly Reservation[] = [];
    try {
      parts = reserveEach(this.links, asked);
      whole.undo();
    } catch (error) {
      undoAfter([...parts, whole], error);
    }
    return parts;
  }

  #demandUpTo(asked: number, last: ChainLink | null): number {
    let demand = 0;
    for (const link of this.links) {
      demand += neededBy(link, asked);
      if (link === last) break;
    }
    return demand;
  }
}

/** Whose permits are taken in the end. */
export function sourceOf(participant: ChainParticipant): ChainParticipant {
  return participant.takesFrom === undefined ? participant : sourceOf(participant.takesFrom);
}

/** Reserves with each link at its turn, or with none. */
export function reserveEach(links: readonly ChainLink[], asked: number): readonly Reservation[] {
  const reserved: Reservation[] = [];
  try {
    for (const { participant, times } of links) reserved.push(participant.reserveInTurn(asked * times));
  } catch (error) {
    // A store has failed.
    undoAfter(reserved, error);
  }
  return reserved;
}

function undoAfter(reservations: readonly Reservation[], error: unknown): never {
  const errors = errorsOfEach([...reservations].reverse(), (reservation) => reservation.undo());
  throwCollected([...errors, error], 'Several members of a chain failed.');
  throw error;
}

function isDirect({ participant }: ChainLink): boolean {
  return participant.takesFrom === undefined;
}

/** The permits of the source that a link needs as things are. */
function neededBy({ participant, times }: ChainLink, asked: number): number {
  let permits = asked * times;
  for (let over = participant; over.takesFrom !== undefined; over = over.takesFrom) {
    permits = over.takesNow!(permits);
    if (permits === 0) return 0;
  }
  return permits;
}

/** Tells all that stand over the source. */
function noteRefusalOf(participant: ChainParticipant): void {
  for (let over = participant; over.takesFrom !== undefined; over = over.takesFrom) over.noteRefusal?.();
}
