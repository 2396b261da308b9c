import type { Kind } from './limiter-setups.js';

/** The numbers of a limiter of a rate; times are whole nanoseconds. */
export interface RateSetup {
  readonly kind: Exclude<Kind, 'concurrency'>;
  readonly limit: number;
  /** The window or the period. */
  readonly durationNs: number;
  readonly segments: number;
  readonly tokensPerPeriod: number;
  readonly isManual: boolean;
}

/**
 * What a limiter of a rate knows without a queue, by the definitions, in integers of any size: nanoseconds since its
 * construction.
 */
export abstract class ExactRate {
  /**
   * Since when everything is available; `null` while something is not. What is full remembers no other moment: being
   * asked leaves no trace, so that a clock that steps back meanwhile takes nothing away.
   */
  fullSince: bigint | null = 0n;
  protected readonly limit: bigint;
  protected readonly duration: bigint;
  protected readonly isManual: boolean;

  constructor({ limit, durationNs, isManual }: RateSetup) {
    this.limit = BigInt(limit);
    this.duration = BigInt(durationNs);
    this.isManual = isManual;
  }

  abstract get available(): bigint;
  /** Applies everything due up to a moment. Returns whether there was anything. */
  abstract apply(now: bigint): boolean;
  /** The moment at which so many are available if nobody takes any. */
  abstract dueAt(permits: bigint): bigint;
  protected abstract spend(permits: bigint, now: bigint): void;

  /** Answers a request. */
  ask(permits: bigint, now: bigint): boolean {
    const isEnough = this.available >= (permits === 0n ? 1n : permits);
    if (isEnough && permits > 0n) {
      this.spend(permits, now);
      this.fullSince = null;
    }
    return isEnough;
  }

  /** The last permit came back: at `dueAt` by itself, or when somebody replenished. */
  protected becomesFull(dueAt: bigint, now: bigint): void {
    this.fullSince = this.isManual ? now : dueAt;
  }
}

/** A fixed window is a sliding one of one segment. */
class ExactWindow extends ExactRate {
  #appliedTo = 0n;
  #grants: { readonly segment: bigint; readonly permits: bigint }[] = [];
  readonly #segments: bigint;

  constructor(setup: RateSetup) {
    super(setup);
    this.#segments = setup.kind === 'slidingWindow' ? BigInt(setup.segments) : 1n;
  }

  get available(): bigint {
    return this.limit - this.#grants.reduce((sum, { permits }) => sum + permits, 0n);
  }

  apply(now: bigint): boolean {
    const before = this.#segmentAt(this.#appliedTo);
    if (now <= this.#appliedTo || (this.fullSince !== null && !this.isManual)) return false;
    this.#appliedTo = now;
    const segment = this.#segmentAt(now);
    const last = this.#grants.at(-1);
    this.#grants = this.#grants.filter((grant) => grant.segment + this.#segments > segment);
    if (last !== undefined && this.#grants.length === 0) {
      const fullAt = this.#comesBackAt(last);
      this.becomesFull(fullAt, now);
      if (!this.isManual) this.#appliedTo = fullAt;
    }
    return segment > before;
  }

  dueAt(permits: bigint): bigint {
    let { available } = this;
    let dueAt = 0n;
    for (const grant of this.#grants) {
      if (available >= permits) break;
      available += grant.permits;
      dueAt = this.#comesBackAt(grant);
    }
    return dueAt;
  }

  protected spend(permits: bigint, now: bigint): void {
    if (!this.isManual && now > this.#appliedTo) this.#appliedTo = now;
    this.#grants.push({ segment: this.#segmentAt(this.#appliedTo), permits });
  }

  #segmentAt(moment: bigint): bigint {
    return (moment * this.#segments) / this.duration;
  }

  #comesBackAt({ segment }: { readonly segment: bigint }): bigint {
    return divideCeil((segment + this.#segments) * this.duration, this.#segments);
  }
}

/** A token is as many parts as the period has nanoseconds; each nanosecond brings `tokensPerPeriod` of them. */
class ExactGreedyBucket extends ExactRate {
  #parts: bigint;
  #reference = 0n;
  readonly #rate: bigint;

  constructor(setup: RateSetup) {
    super(setup);
    this.#rate = BigInt(setup.tokensPerPeriod);
    this.#parts = this.limit * this.duration;
  }

  get available(): bigint {
    return this.#parts / this.duration;
  }

  apply(now: bigint): boolean {
    if (now <= this.#reference || this.fullSince !== null) return false;
    const fullAt = this.dueAt(this.limit);
    this.#parts += (now - this.#reference) * this.#rate;
    this.#reference = now;
    if (this.#parts >= this.limit * this.duration) {
      this.#parts = this.limit * this.duration;
      this.#reference = fullAt;
      this.becomesFull(fullAt, now);
    }
    return true;
  }

  dueAt(permits: bigint): bigint {
    return this.#reference + divideCeil(permits * this.duration - this.#parts, this.#rate);
  }

  protected spend(permits: bigint, now: bigint): void {
    if (this.fullSince !== null && now > this.#reference) this.#reference = now;
    this.#parts -= permits * this.duration;
  }
}

class ExactIntervalBucket extends ExactRate {
  available: bigint;
  #boundary = 0n;
  readonly #perPeriod: bigint;

  constructor(setup: RateSetup) {
    super(setup);
    this.#perPeriod = BigInt(setup.tokensPerPeriod);
    this.available = this.limit;
  }

  apply(now: bigint): boolean {
    const passed = now / this.duration - this.#boundary;
    if (passed < 1n || this.fullSince !== null) return false;
    const fullAt = this.dueAt(this.limit);
    this.#boundary += passed;
    this.available += passed * this.#perPeriod;
    if (this.available >= this.limit) {
      this.available = this.limit;
      if (!this.isManual) this.#boundary = fullAt / this.duration;
      this.becomesFull(fullAt, now);
    }
    return true;
  }

  dueAt(permits: bigint): bigint {
    return (this.#boundary + divideCeil(permits - this.available, this.#perPeriod)) * this.duration;
  }

  protected spend(permits: bigint, now: bigint): void {
    if (this.fullSince !== null && now / this.duration > this.#boundary) this.#boundary = now / this.duration;
    this.available -= permits;
  }
}

function divideCeil(dividend: bigint, divisor: bigint): bigint {
  return dividend <= 0n ? 0n : (dividend + divisor - 1n) / divisor;
}

export function exactRate(setup: RateSetup): ExactRate {
  if (setup.kind === 'greedyBucket') return new ExactGreedyBucket(setup);
  if (setup.kind === 'intervalBucket') return new ExactIntervalBucket(setup);
  return new ExactWindow(setup);
}
