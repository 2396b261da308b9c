import type { Clock, ClockTimer } from '@ratelease/limiters';
import type { LimiterDefinition } from '../remote/limiter-definition.js';
import type { Answer, Granted } from '../store/decision-request.js';
import type { Standing } from '../store/standing.js';
import { standingLater } from '../store/standing.js';
import type { LimiterGroup } from '../store/limiter-group.js';
import { settledWithin } from '../store/settled-within.js';
import type { Store } from '../store/store.js';
import { Reservation } from './reservation.js';
import { ReserveSize } from './reserve-size.js';

/** What is reserved is spent within this time, or given back. */
const HELD_MS = 500;

/** Permits that the server has granted to this process, for requests to come. */
interface Batch {
  left: number;
  readonly granted: Granted;
  readonly askedMs: number;
  /** What the server has said last, the permits left here not among those that remain; and when. */
  latest: Granted;
  latestMs: number;
  /** From this moment on they may not be spent, by the clock of the limiter. */
  readonly voidMs: number;
}

/**
 * Permits of a group of rates that this process has reserved and not spent yet, at most `group.reserveAhead`. The
 * server counts them as granted; here they are granted without asking it. What isn't spent in time is given back.
 */
export class Reserve {
  readonly #store: Store;
  readonly #group: LimiterGroup;
  readonly #clock: Clock;
  readonly #size: ReserveSize;
  readonly #onIdle: () => void;
  #batch: Batch | null = null;
  #reservation: Reservation | null = null;
  #timer: ClockTimer | null = null;
  #lastUsedMs: number;
  #returning = 0;
  #isEnded = false;
  #onEnd: (() => void) | null = null;

  /** @param onIdle - called when nothing is reserved and nobody has asked for {@link HELD_MS}. */
  constructor(store: Store, group: LimiterGroup, onIdle: () => void) {
    this.#store = store;
    this.#group = group;
    this.#clock = group.definitions[0]!.clock;
    this.#size = new ReserveSize(group.reserveAhead, group.instances);
    this.#onIdle = onIdle;
    this.#lastUsedMs = this.#clock.now();
    this.#arm(HELD_MS);
  }

  /** Takes permits out of the reserve; `undefined` when there are not so many. */
  take(permits: number): Granted | undefined {
    const nowMs = this.#clock.now();
    const batch = this.#liveAt(nowMs);
    if (batch === null || batch.left < (permits > 0 ? permits : 1)) return undefined;
    this.#lastUsedMs = nowMs;
    this.#size.count(permits, nowMs);
    batch.left -= permits;
    if (batch.left === 0) this.#batch = null;
    return grantedFrom(batch, nowMs);
  }

  /** Somebody asks the server for so many: with him goes a request for those to come. */
  refill(permits: number): void {
    const nowMs = this.#clock.now();
    this.#lastUsedMs = nowMs;
    const size = this.#size.at(nowMs);
    this.#size.count(permits, nowMs);
    if (this.#reservation !== null) {
      if (!this.#reservation.isSent) this.#reservation.growTo(size);
      return;
    }
    // Fewer than are asked for at a time would be of use to nobody.
    if (this.#isEnded || this.#liveAt(nowMs) !== null || size < Math.max(1, permits)) return;
    const reservation = new Reservation(this.#group, size, {
      askedMs: nowMs,
      onAnswer: (answer) => this.#onAnswer(reservation, answer),
      onLate: (answer, late) => {
        if (answer.kind === 'granted') void this.#store.giveBackReserved(this.#group, late, answer);
      },
    });
    this.#reservation = reservation;
    this.#store.ask(reservation);
  }

  /** The server has told how the limiters stand. */
  heard(standing: Standing): void {
    let remaining = Infinity;
    for (const one of standing) remaining = Math.min(remaining, one.remaining);
    if (remaining !== Infinity) this.#size.heard(remaining);
  }

  /** The server's grant to somebody who asks here: what is reserved for such as him is available to him. */
  withReserved(granted: Granted): Granted {
    const nowMs = this.#clock.now();
    const batch = this.#liveAt(nowMs);
    if (batch === null) return granted;
    batch.latest = granted;
    batch.latestMs = nowMs;
    return grantedFrom(batch, nowMs);
  }

  /** Gives back what is reserved; `null` when there is nothing. */
  giveBack(): Promise<void> | null {
    const batch = this.#batch;
    this.#batch = null;
    if (batch === null || isOver(batch, this.#group, this.#clock.now())) return null;
    this.#returning++;
    return this.#store
      .giveBackReserved(this.#group, batch.left, batch.granted)
      .then(() => void this.#returning--);
  }

  /** Whether something is on its way back: the server may have refused what it grants in a moment. */
  get isReturning(): boolean {
    return this.#returning > 0;
  }

  /** Gives everything back; resolves when the server has been told, or does not answer. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.#timer?.cancel();
    await settledWithin(this.#giveBackAll(), this.#group.timeoutMs);
  }

  async #giveBackAll(): Promise<void> {
    if (this.#reservation !== null) await new Promise<void>((resolve) => (this.#onEnd = resolve));
    await this.giveBack();
  }

  #onAnswer({ askedMs, question }: Reservation, answer: Answer): void {
    this.#reservation = null;
    if (answer.kind === 'granted' || answer.kind === 'refused') this.heard(answer.standing);
    if (answer.kind === 'granted') {
      const voidMs = askedMs + lastingMs(this.#group.definitions, answer.standing);
      this.#batch = {
        left: question.permits,
        granted: answer,
        askedMs,
        latest: answer,
        latestMs: askedMs,
        voidMs,
      };
    }
    this.#onEnd?.();
  }

  #liveAt(nowMs: number): Batch | null {
    if (this.#batch !== null && nowMs >= this.#batch.voidMs) void this.giveBack();
    return this.#batch;
  }

  #arm(delayMs: number): void {
    this.#store.runOutside(() => {
      // Nobody waits for it: what a process that ends has reserved comes back with time.
      // At least 1: a fraction of a millisecond may be too little to be added to the present.
      this.#timer = this.#clock.setTimer(() => this.#onTimer(), Math.max(1, delayMs), { background: true });
    });
  }

  #onTimer(): void {
    const nowMs = this.#clock.now();
    const batch = this.#liveAt(nowMs);
    if (batch !== null) return this.#arm(batch.voidMs - nowMs);
    const idleMs = nowMs - this.#lastUsedMs;
    if (idleMs >= HELD_MS && this.#reservation === null) return this.#onIdle();
    this.#arm(HELD_MS - idleMs);
  }
}

/** A grant out of a batch, with the time that has passed since taken off. */
function grantedFrom({ left, latest, latestMs }: Batch, nowMs: number): Granted {
  const passedUs = Math.max(0, Math.floor((nowMs - latestMs) * 1_000));
  return {
    kind: 'granted',
    standing: standingLater(latest.standing, passedUs, left),
    nowUs: latest.nowUs + passedUs,
  };
}

/** How long permits may be kept: until the end of the window or segment that the server counts them in. */
function lastingMs(definitions: readonly LimiterDefinition[], standing: Standing): number {
  const ends = definitions.map((definition, member) => definition.reservedForUs(standing[member]!.resetUs));
  return Math.min(HELD_MS, ...ends.map((us) => us / 1_000));
}

/** Whether all that was taken has come back with time already. */
function isOver({ granted, askedMs }: Batch, { definitions }: LimiterGroup, nowMs: number): boolean {
  return definitions.every(
    ({ returnsAtEnd }, member) =>
      returnsAtEnd && nowMs >= askedMs + granted.standing[member]!.resetUs / 1_000,
  );
}
