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

/**
 * The links of a chain that can decide on a request at once, or `null` where it has to ask one member after the other:
 * one of them offers no participants, or two take from the same permits in different ways, so that what is enough for
 * each need not be enough for both.
 *
 * @throws RangeError - for a count that could never be granted.
 * @throws ObjectDisposedError - when a member was disposed.
 */
export function decidingLinksOf(limiters: readonly object[], permits: number): ChainLink[] | null {
  const links = linksOf(limiters);
  if (links === null) return null;
  assertWithinLimits(links, permits);
  assertAlive(links);
  return links.some(isOverAnother) && shareSources(links, permits) ? null : links;
}

function isOverAnother({ participant }: ChainLink): boolean {
  return participant.takesFrom !== undefined;
}

/** Whether two take from the same permits. @throws RangeError - where those can never be enough for both. */
function shareSources(links: readonly ChainLink[], permits: number): boolean {
  let isShared = false;
  for (const { participant, member } of links) {
    const source = sourceOf(participant);
    const sharing = links.filter((other) => sourceOf(other.participant).isSame(source));
    if (sharing.length === 1) continue;
    isShared = true;
    const direct = sharing.filter((link) => !isOverAnother(link)).reduce((sum, { times }) => sum + times, 0);
    // The others carry any number by one.
    const left = source.permitLimit - sharing.filter(isOverAnother).length;
    if (permits * direct > left) throw aboveLimit(permits, Math.max(0, Math.floor(left / direct)), member);
  }
  return isShared;
}

/** Whose permits are taken in the end. */
function sourceOf(participant: ChainParticipant): ChainParticipant {
  return participant.takesFrom === undefined ? participant : sourceOf(participant.takesFrom);
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
