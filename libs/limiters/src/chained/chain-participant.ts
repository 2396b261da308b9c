import type { Clock } from '../clock.js';
import type { Instant } from './instant.js';
import type { Waiter } from '../queue/waiter.js';
import type { RateLimitLease, RateLimitQuota } from '../rate-limit-lease.js';

/**
 * What a chain needs of a limiter to take from several all-or-nothing, to wait without holding anything and to
 * burn nothing on a refusal. All methods are synchronous and belong to one turn: a chain brings every member up
 * to date, asks every member, and only then takes from all.
 *
 * Offer it from a limiter of your own under {@link chainParticipants}; a chain with a member that doesn't falls
 * back to asking one member after the other.
 */
export interface ChainParticipant {
  /** What it is called in error messages. */
  readonly name: string;

  /** The place in the order of creation, in which requests reserve. */
  readonly creationOrder: number;

  /** The most permits that it could ever grant at once. */
  readonly permitLimit: number;

  /** Whether it has ended: it grants nothing any more. */
  readonly isDisposed: boolean;

  /** Whether another one takes from the very same permits. */
  isSame(other: ChainParticipant): boolean;

  /** Only where it takes the permits of another one, under conditions of its own: that one. */
  readonly takesFrom?: ChainParticipant;

  /**
   * With {@link ChainParticipant.takesFrom}: how many permits of that one a request needs as things are; 0: nothing. A
   * chain with another that takes from the very same permits adds up what all of them need. Where this is missing it
   * can't know beforehand whether there is enough for all, and asks its members one after the other.
   */
  takesNow?(permits: number): number;

  /**
   * With {@link ChainParticipant.takesFrom}: that one has refused a request for it that it was asked together with
   * others.
   */
  noteRefusal?(): void;

  /** What the deadlines of its waiters are measured on. */
  readonly clock: Clock;

  /**
   * Applies what is due and serves the own queue.
   *
   * @param instant - the moment to go by, where it is that of a decision on several limiters.
   */
  bringUpToDate(instant?: Instant): void;

  /** Whether a newcomer would be granted at once. Changes nothing. */
  canGrant(permits: number): boolean;

  /** Whether the permits are there, whoever waits for them; a request for none needs one to be free. */
  hasEnough(permits: number): boolean;

  /** Takes permits that are there, and counts the success. */
  take(permits: number): RateLimitLease;

  /**
   * Only where taking has consequences for others. Such a participant is taken from before the rest and may throw,
   * in which case nothing is taken from anybody; when all are taken from it is called here, to serve those who
   * waited for what has changed.
   */
  afterTaking?(): void;

  /** The refusal that a newcomer gets who doesn't wait; counts it. */
  refuse(permits: number): RateLimitLease;

  /**
   * The refusal, counted, for a request that by the rules of the queue can't wait; `null` where it can. Makes
   * room where that is the rule.
   *
   * @param isReserving - such a request needs no room, only a queue.
   */
  refusalToWait(permits: number, maxWaitMs: number, isReserving: boolean): RateLimitLease | null;

  /** Lets a request that can wait stand in the queue: its `takeTurn` is called once there is enough at its turn. */
  enter(waiter: Waiter): void;

  /** Takes permits for a request that reserves; `null` where they aren't there or another such request is before it. */
  reserve(permits: number): Reservation | null;

  /** The same for the request whose turn it is. */
  reserveInTurn(permits: number): Reservation;

  /**
   * A request that begins to wait, here or elsewhere, involves the limiter: it must not be thrown away as idle
   * before {@link ChainParticipant.unhold}.
   */
  hold(waiter: Waiter): void;
  /** Such a request has ended. */
  unhold(waiter: Waiter): void;

  /** Whether a waiting request involves it. */
  readonly isHeld: boolean;

  /** How the limiter stands, also for the refusal by another member. */
  quota(): RateLimitQuota;

  /** Whole milliseconds until the request would be granted if nobody else came, at least 1; `undefined` where unknown. */
  retryAfterMs(permits: number): number | undefined;
}

/** Permits taken by a request that still waits for others. */
export interface Reservation {
  /** All others are there too: counts the success. */
  grant(): RateLimitLease;
  /** As if they had never been taken, those of a rate too. */
  undo(): void;
}

/**
 * The key under which a limiter offers its participants: a method that returns them in order, or `null` where
 * the limiter can't take part at present.
 */
export const chainParticipants: unique symbol = Symbol.for('ratelease.chain-participants') as never;

/**
 * The key under which a partitioned limiter hands out the limiter of a resource's partition (or the lease with
 * which it refuses to have one), so that a chain runs its partitioner once.
 */
export const partitionOf: unique symbol = Symbol.for('ratelease.partition-of') as never;

/**
 * Who stands for a participant from when a request that waits holds it. Before that, several may stand for one partition;
 * of what happens to it from then on, a change of its options or somebody's reservation, only this one knows.
 */
export function residentOf(participant: ChainParticipant): ChainParticipant {
  return (participant as { readonly replacement?: ChainParticipant | null }).replacement ?? participant;
}

/** The participants that a limiter offers, or `null`. */
export function participantsOf(limiter: object): readonly ChainParticipant[] | null {
  const offer = (limiter as Record<symbol, unknown>)[chainParticipants];
  return typeof offer === 'function' ? (offer.call(limiter) as readonly ChainParticipant[] | null) : null;
}
