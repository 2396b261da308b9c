import type { Clock, ClockTimer } from '@ratelease/limiters';

/** How long a session may live. */
export interface SessionLifetime {
  /** Milliseconds without a request and without work of its own after which it ends; `Infinity`: never. */
  readonly idleTimeoutMs: number;
  /** Milliseconds after which it ends in any case; `Infinity`: never. */
  readonly maxLifetimeMs: number;
}

/**
 * Knows when a session is idle for too long, or too old. Its one timer is background, and it isn't set again with
 * every request: when it fires too early it goes on for what is left.
 */
export class UsageClock {
  readonly #clock: Clock;
  readonly #lifetime: SessionLifetime;
  readonly #onOver: (reason: 'idle' | 'expired') => void;
  readonly #expiresAtMs: number;
  #lastUsedMs: number;
  #users = 0;
  #timer: ClockTimer | null = null;
  #timerAtMs = Infinity;
  #isStopped = false;

  constructor(clock: Clock, lifetime: SessionLifetime, onOver: (reason: 'idle' | 'expired') => void) {
    this.#clock = clock;
    this.#lifetime = lifetime;
    this.#onOver = onOver;
    this.#lastUsedMs = clock.now();
    this.#expiresAtMs = this.#lastUsedMs + lifetime.maxLifetimeMs;
    this.#arm();
  }

  /** Something begins to use the session. */
  enter(): void {
    this.#users++;
  }

  /** It doesn't any more. */
  leave(): void {
    this.#users--;
    this.#lastUsedMs = this.#clock.now();
    if (this.#dueMs < this.#timerAtMs) this.#arm();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#timer = null;
  }

  get #dueMs(): number {
    const idleAtMs = this.#users > 0 ? Infinity : this.#lastUsedMs + this.#lifetime.idleTimeoutMs;
    return Math.min(idleAtMs, this.#expiresAtMs);
  }

  #arm(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#timerAtMs = this.#dueMs;
    if (this.#isStopped || this.#timerAtMs === Infinity) return;
    const delayMs = Math.max(0, this.#timerAtMs - this.#clock.now());
    this.#timer = this.#clock.setTimer(() => this.#onTimer(), delayMs, { background: true });
  }

  #onTimer(): void {
    this.#timer = null;
    const nowMs = this.#clock.now();
    if (nowMs < this.#dueMs) this.#arm();
    else this.#onOver(nowMs >= this.#expiresAtMs ? 'expired' : 'idle');
  }
}
