import type { LeaseLostError } from './lease-lost-error.js';

/** A lease of this process. */
export interface Held {
  /** Until then it lasts, unless it is renewed. */
  untilMs: number;
  onLost: ((reason: LeaseLostError) => void) | null;
}

/** The leases that this process holds of one limiter of one partition, as the server knows them: by `id*permits`. */
export class KeptLeases {
  readonly #held = new Map<string, Held>();
  readonly #whyLost: () => LeaseLostError;

  constructor(whyLost: () => LeaseLostError) {
    this.#whyLost = whyLost;
  }

  get size(): number {
    return this.#held.size;
  }

  get members(): Iterable<string> {
    return this.#held.keys();
  }

  get(member: string): Held | undefined {
    return this.#held.get(member);
  }

  hold(member: string, untilMs: number): void {
    this.#held.set(member, { untilMs, onLost: null });
  }

  /** It is this process' no more, by its own doing. */
  delete(member: string): void {
    this.#held.delete(member);
  }

  /** It is this process' no more, and who has it learns of that. */
  lose(member: string): void {
    const held = this.#held.get(member);
    if (held === undefined) return;
    this.#held.delete(member);
    const reason = this.#whyLost();
    held.onLost?.(reason);
  }

  /** Loses those whose time is over, and tells which they are. */
  loseEnded(nowMs: number, onEnded: (member: string) => void): void {
    for (const [member, { untilMs }] of this.#held) {
      if (untilMs > nowMs) continue;
      this.lose(member);
      onEnded(member);
    }
  }

  /** When the first of them ends, at `latestMs` at the latest. */
  firstEndMs(latestMs: number): number {
    return firstEndMs(this.#held.values(), latestMs);
  }
}

/** When the first of them ends, at `latestMs` at the latest. */
export function firstEndMs(kept: Iterable<{ readonly untilMs: number }>, latestMs: number): number {
  let firstMs = latestMs;
  for (const { untilMs } of kept) firstMs = Math.min(firstMs, untilMs);
  return firstMs;
}
