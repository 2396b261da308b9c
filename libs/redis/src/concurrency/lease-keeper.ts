import { concurrencyKeys } from '../keys/state-keys.js';
import type { LimiterDefinition } from '../remote/limiter-definition.js';
import { leaseNumbers } from '../remote/limiter-definition.js';
import { RENEW } from '../scripts/script.js';
import type { Standing } from '../store/standing.js';
import { settledWithin } from '../store/settled-within.js';
import type { Store } from '../store/store.js';
import { timerDelay } from '../store/timer-delay.js';
import type { KeeperContext } from './keeper-context.js';
import { KeptLeases } from './kept-leases.js';
import type { AskedBy, Asking, Expecting } from './kept-waits.js';
import { isAboveLimit, KeptWaits, permitsOf, RENEWED } from './kept-waits.js';
import type { LeaseLostError } from './lease-lost-error.js';
import { leaseLost } from './lease-lost-error.js';
import type { Listener, Notice, Notifications } from './notifications.js';
import { Releases } from './releases.js';
import type { WaitEnd } from './wait-outcome.js';

/** A renewal that failed is tried again so soon. */
const RETRY_MS = 200;
/** So much later than a lease ends, by the server's reckoning, somebody who waits looks at it. */
const AFTER_END_MS = 5;

/**
 * The leases and waits of this process in one limiter of one partition: renews them all in one call each third of
 * their lifetime, and learns from its answer what messages did not tell.
 */
export class LeaseKeeper implements Listener {
  readonly #store: Store;
  readonly #notifications: Notifications;
  #definition: LimiterDefinition;
  readonly #keys: readonly string[];
  /** As the scripts take them; the releases have the same list. */
  readonly #numbers: string[];
  readonly #leases: KeptLeases;
  readonly #waits = new KeptWaits();
  /** How many permits the server had left when it told so last. */
  remaining = 0;
  /** Messages to those on their way may have been missed. */
  #isLookDue = false;
  readonly #releases: Releases;
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | undefined = undefined;
  #timerAtMs = Infinity;
  /** Set while a renewal is on its way. */
  #endsTimer: NodeJS.Timeout | undefined = undefined;
  #isRenewing = false;

  constructor(context: KeeperContext, partitionKey: string, definition: LimiterDefinition) {
    this.#store = context.store;
    this.#notifications = context.notifications;
    this.#definition = definition;
    this.#keys = [partitionKey, ...concurrencyKeys(partitionKey, definition.name)];
    this.#numbers = leaseNumbers(definition, definition.limit);
    this.#leases = new KeptLeases(() => leaseLost(this.#definition.name, partitionKey));
    this.#onIdle = context.onIdle;
    this.#releases = new Releases(this.#store, this.#keys, this.#numbers, () => this.tidy());
  }

  /** Permits of the leases that are held here are in use. */
  get isIdle(): boolean {
    return this.#leases.size + this.#waits.size + this.#waits.asking === 0 && this.#releases.isIdle;
  }

  /** Goes on with the numbers of a later definition, as the server does with what it is asked from now on. */
  follow(definition: LimiterDefinition): void {
    if (definition.revision <= this.#definition.revision) return;
    this.#definition = definition;
    this.lookAnew();
  }

  /** A limiter has other numbers, or is another one by now: who waits for it may have to ask again. */
  lookAnew(): void {
    for (const member of this.#waits.aboveLimit()) this.#askAnew(member);
    this.#countLimit();
    if (!this.isIdle) this.#arm(0);
  }

  /** It learns why it can't go on as it asks again. */
  #askAnew(member: string): void {
    this.#waits.waiting(member)?.settle('lost');
    void this.abandon(member);
  }

  #countLimit(): void {
    const limit = this.#waits.highestLimit(this.#definition.limit);
    this.#numbers.splice(0, Infinity, ...leaseNumbers(this.#definition, limit));
  }

  /** Whether the lease is renewed here, so that it was not lost as far as is known. */
  holds(member: string): boolean {
    return this.#leases.get(member) !== undefined;
  }

  /** From now on the lease is renewed. It lasts until then, as it was granted: perhaps by other numbers than these. */
  hold(member: string, untilMs: number): void {
    const { leaseTtlMs } = this.#definition;
    this.#leases.hold(member, untilMs);
    // Also where its answer was read late.
    this.#armAt(Math.min(untilMs - (2 / 3) * leaseTtlMs, performance.now() + leaseTtlMs / 3));
  }

  onLost(member: string, listener: (reason: LeaseLostError) => void): void {
    const held = this.#leases.get(member);
    if (held !== undefined) held.onLost = listener;
  }

  /** Gives the permits back; see {@link Releases.add}. */
  release(member: string): Promise<void> {
    const held = this.#leases.get(member);
    if (held === undefined) return Promise.resolve();
    this.#leases.delete(member);
    return this.#releases.add(member, held.untilMs);
  }

  /** Ends what a request may have got that nobody waits for any more. To be called once it has been sent. */
  abandon(member: string): Promise<void> {
    this.#leases.delete(member);
    this.forget(member);
    return this.#releases.add(member, performance.now() + this.#definition.leaseTtlMs);
  }

  /** To be called before the server is asked by a request that does not wait: at the end it is given back. */
  asks(member: string): void {
    this.#waits.asks(member);
  }

  /**
   * The same for a request that may wait: the server's message may be here before its answer. `leaseTtlMs` is that of the
   * numbers that it asks with.
   */
  expect(member: string, { settle, limitOf, isKnownElsewhere }: Expecting, leaseTtlMs: number): void {
    const heldUntilMs = performance.now() + leaseTtlMs;
    const end = (how: WaitEnd): void => {
      const { heldUntilMs: untilMs } = this.#waits.waiting(member) ?? asking;
      this.forget(member);
      // A request for no permits holds none.
      if (how === 'granted' && permitsOf(member) > 0) this.hold(member, untilMs);
      settle({ end: how, remaining: this.remaining });
    };
    const ownLimit = (): number => limitOf(this.#definition.name);
    const asking: Asking = { settle: end, ownLimit, heldUntilMs, isKnownElsewhere };
    this.#waits.expect(member, asking);
    this.#notifications.expect(member, this);
  }

  /** See {@link Listener.hear}. */
  hear(member: string, notice: Notice, remaining: number): void {
    const expected = this.#waits.get(member);
    if (expected === undefined) return;
    // Of a lease of another limiter, perhaps, which a renewal has told of before.
    if (expected.isKnownElsewhere && this.#waits.waiting(member) === undefined) return this.look();
    this.remaining = remaining;
    // Where the process stood still, it may tell of a lease that has ended meanwhile.
    if (notice === 'granted' && expected.heldUntilMs <= performance.now()) this.look();
    else expected.settle(notice);
  }

  /** The request does not wait here, or not any more. */
  forget(member: string): void {
    this.#waits.delete(member);
    this.#notifications.forget(member, this);
  }

  /** The request waits for another limiter: so a message that came before that was known told of that one. */
  disown(member: string): void {
    this.forget(member);
    this.#leases.delete(member);
  }

  /** The request waits now; its standing tells when the first lease ends unless it is renewed. */
  waits(
    member: string,
    { remaining, resetUs: firstEndUs }: Standing[number],
    { sinceMs, leaseTtlMs }: AskedBy,
  ): void {
    const waiting = this.#waits.waits(member, performance.now() + leaseTtlMs, sinceMs + leaseTtlMs);
    // The message that it was granted may have come before the answer that it waits.
    if (waiting === undefined) return;
    this.remaining = remaining;
    if (isAboveLimit(member, waiting)) this.#askAnew(member);
    if (waiting.ownLimit() > Number(this.#numbers[1])) this.#countLimit();
    if (this.#isLookDue) return this.look();
    const firstEndMs = firstEndUs < 0 ? Infinity : firstEndUs / 1_000 + AFTER_END_MS;
    this.#arm(Math.min(leaseTtlMs / 3, this.#definition.leaseTtlMs / 3, firstEndMs));
  }

  /** Messages may have been missed. */
  look(): void {
    this.#isLookDue = this.#waits.asking > 0;
    if (this.#waits.size > 0) this.#arm(0);
  }

  /** Gives back all but what is being asked for, which the server may not know yet: who asks does it, once answered. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    clearTimeout(this.#endsTimer);
    const members = [...this.#leases.members, ...this.#waits.members];
    this.#waits.dispose();
    const told = Promise.all(members.map((member) => this.abandon(member))).then(() => this.#releases.end());
    await settledWithin(told, this.#definition.commandTimeoutMs);
  }

  #arm(delayMs: number): void {
    this.#armAt(performance.now() + delayMs);
  }

  #armAt(atMs: number): void {
    if (this.#timer !== undefined && this.#timerAtMs <= atMs) return;
    clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#store.runOutside(() => {
      const delayMs = timerDelay(atMs - performance.now());
      // Sockets keep a process alive, and what is held here is the server's to take back when there are none.
      this.#timer = setTimeout(() => void this.#renew(), delayMs).unref();
    });
  }

  async #renew(): Promise<void> {
    this.#timer = undefined;
    if (this.#isRenewing) return this.#arm(RETRY_MS);
    const members = [...this.#leases.members, ...this.#waits.members];
    if (members.length === 0) return this.tidy();
    this.#isRenewing = true;
    this.#countLimit();
    const sentMs = performance.now();
    const args = [this.#store.timeArgument, ...this.#numbers, this.#store.channels, ...members];
    // Other numbers may come while it is on its way.
    const { leaseTtlMs } = this.#definition;
    const untilMs = sentMs + leaseTtlMs;
    let nextMs = leaseTtlMs / 3;
    this.#watchEnds();
    try {
      if (!this.#store.connection.isReady) throw new Error('There is no connection.');
      const reply = await this.#store.run(RENEW, this.#keys, args);
      this.remaining = Math.max(0, reply[2]!);
      members.forEach((member, index) => this.#renewed(member, reply[index + 3]!, sentMs, untilMs));
      // They last from when it was sent, however late its answer was read.
      nextMs = Math.max(0, nextMs - (performance.now() - sentMs));
      if (this.#waits.size > 0 && reply[1]! >= 0) nextMs = Math.min(nextMs, reply[1]! / 1_000 + AFTER_END_MS);
    } catch {
      this.#dropExpired();
      nextMs = this.#retryMs();
    }
    clearTimeout(this.#endsTimer);
    this.#isRenewing = false;
    if (this.#leases.size > 0 || this.#waits.size > 0) this.#arm(nextMs);
    else this.tidy();
  }

  #renewed(member: string, state: number, sentMs: number, untilMs: number): void {
    const held = this.#leases.get(member);
    if (held === undefined) this.#waits.renewed(member, state, sentMs, untilMs);
    else if (state === RENEWED.lost || state === RENEWED.evicted) this.#leases.lose(member);
    else held.untilMs = untilMs;
  }

  /** An answer that does not come, as from a server that is cut off, must not hide that leases and places end. */
  #watchEnds(): void {
    const look = (): void => {
      if (!this.#isRenewing) return;
      this.#dropExpired();
      this.#watchEnds();
    };
    this.#store.runOutside(() => {
      // Where the process stood still, timers come before the answer that lies there already.
      this.#endsTimer = setTimeout(() => setImmediate(look), timerDelay(this.#retryMs())).unref();
    });
  }

  /** A renewal that failed is tried again soon, and a lease that ends before that is missed at its end. */
  #retryMs(): number {
    const nowMs = performance.now();
    return this.#waits.firstEndMs(this.#leases.firstEndMs(nowMs + RETRY_MS)) - nowMs;
  }

  /**
   * Without an answer from the server, a lease or a place whose time is over counts as lost. As nobody knows what the
   * server makes of it, it is given back.
   */
  #dropExpired(): void {
    const nowMs = performance.now();
    const backUntilMs = nowMs + this.#definition.leaseTtlMs;
    const onEnded = (member: string): void => void this.#releases.add(member, backUntilMs);
    this.#leases.loseEnded(nowMs, onEnded);
    this.#waits.loseEnded(nowMs, onEnded);
  }

  /** Ends the keeper where nothing is left to keep. */
  tidy(): void {
    if (this.isIdle) this.#onIdle();
  }
}
