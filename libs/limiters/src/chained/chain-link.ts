import { aboveLimit } from '../checks.js';
import { ObjectDisposedError } from '../errors.js';
import type { ChainParticipant } from './chain-participant.js';
import { participantsOf } from './chain-participant.js';

/** A participant, how often it takes part (a limiter may stand twice in a chain), and for which member. */
export interface ChainLink {
  readonly participant: ChainParticipant;
  /** Permits asked of it for each permit of the request. */
  times: number;
  /** The index of the first of the chain's members that it belongs to. */
  readonly member: number;
}

/** The links of a chain, in order, or `null` where a member offers no participants. */
export function linksOf(limiters: readonly object[]): ChainLink[] | null {
  const links: ChainLink[] = [];
  for (let member = 0; member < limiters.length; member++) {
    const participants = participantsOf(limiters[member]!);
    if (participants === null) return null;
    for (const participant of participants) {
      const known = linkOf(participant, links);
      if (known === undefined) links.push({ participant, times: 1, member });
      else known.times++;
    }
  }
  return links;
}

function linkOf(participant: ChainParticipant, links: readonly ChainLink[]): ChainLink | undefined {
  for (const link of links) if (link.participant.isSame(participant)) return link;
  return undefined;
}

/** @throws RangeError - for a count above the smallest limit. */
export function assertWithinLimits(links: readonly ChainLink[], permits: number): void {
  for (const { participant, times, member } of links) {
    if (permits * times > participant.permitLimit)
      throw aboveLimit(permits, Math.floor(participant.permitLimit / times), member);
  }
}

/** @throws ObjectDisposedError - when a member was disposed. */
export function assertAlive(links: readonly ChainLink[]): void {
  for (const { participant } of links)
    if (participant.isDisposed) throw new ObjectDisposedError(participant.name);
}
