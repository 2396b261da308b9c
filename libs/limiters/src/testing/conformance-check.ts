import { systemClock } from '../clock.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { RateLimiter } from '../rate-limiter.js';
import { FakeClock } from './fake-clock.js';

/** One promise of the contract, to be run as one test. */
export interface ConformanceCheck {
  /** What the limiter has to do, as a sentence. */
  readonly name: string;
  /** Makes a limiter and tries it. Rejects with a {@link ConformanceError} when it does otherwise. */
  run(): Promise<void>;
}

/** What the suite has to know of the limiters that it is given. */
export interface RateLimiterTraits {
  /** How many permits a new limiter grants at once, an integer of at least 2. */
  readonly permitLimit: number;
  /**
   * How many permits waiting requests may ask for together. Where somebody can wait, make it at least the
   * limit; the oldest has to be served first. @defaultValue 0: nobody waits
   */
  readonly queueLimit?: number | undefined;
  /**
   * Milliseconds on the clock after which everything is back once all leases are disposed.
   * @defaultValue 0: the disposal of the leases is enough
   */
  readonly replenishedAfterMs?: number | undefined;
}

/** Thrown by a check when the limiter breaks the contract. */
export class ConformanceError extends Error {
  /** Always `ConformanceError`. */
  override readonly name = 'ConformanceError';
}

/** Fails the check unless the condition holds. */
export function verify(condition: boolean, message: string): void {
  if (!condition) throw new ConformanceError(message);
}

/** What has become of a promise so far. */
export interface Progress {
  lease?: RateLimitLease;
  error?: unknown;
  isSettled: boolean;
}

/** A new limiter, its clock, and what checks do with them. */
export class Trial {
  readonly clock = new FakeClock(1_000_000);
  readonly limiter: RateLimiter;
  readonly limit: number;
  readonly #replenishedAfterMs: number;
  readonly #held: RateLimitLease[] = [];

  constructor(createLimiter: (clock: FakeClock) => RateLimiter, traits: RateLimiterTraits) {
    this.limiter = createLimiter(this.clock);
    this.limit = traits.permitLimit;
    this.#replenishedAfterMs = traits.replenishedAfterMs ?? 0;
  }

  /** Takes permits that must be there. */
  take(permits: number): RateLimitLease {
    const lease = this.limiter.attemptAcquire(permits);
    verify(lease.isAcquired, `attemptAcquire(${permits}) was refused although so many permits were free`);
    this.#held.push(lease);
    return lease;
  }

  /** Takes everything. */
  exhaust(): RateLimitLease {
    return this.take(this.limit);
  }

  /** Gives everything back: disposes the leases taken and lets the time pass. */
  async giveBack(): Promise<void> {
    for (const lease of this.#held.splice(0)) lease.dispose();
    this.clock.advance(this.#replenishedAfterMs);
    this.limiter.tryReplenish();
    await settle();
  }

  /** How many single permits are granted now, at most one more than the limit. */
  takeSingles(): number {
    let granted = 0;
    while (granted <= this.limit) {
      const lease = this.limiter.attemptAcquire(1);
      if (!lease.isAcquired) return granted;
      this.#held.push(lease);
      granted++;
    }
    return granted;
  }
}

/** Follows a promise; an error of it is noted, not thrown. */
export async function follow(promise: Promise<RateLimitLease>): Promise<Progress> {
  const progress: Progress = { isSettled: false };
  promise.then(
    (lease) => Object.assign(progress, { isSettled: true, lease }),
    (error: unknown) => Object.assign(progress, { isSettled: true, error }),
  );
  await settle();
  return progress;
}

/** Lets everything that is under way settle: what needs a turn of the event loop too. */
export async function settle(): Promise<void> {
  await new Promise<void>((resolve) => void systemClock.setTimer(resolve, 0));
}

/** A signal that is aborted already. */
export function abortedSignal(reason: unknown): AbortSignal {
  const controller = new AbortController();
  controller.abort(reason);
  return controller.signal;
}

/** The error that a call throws. */
export function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new ConformanceError('expected an error, but the call returned');
}

/** An error as a message shows it. */
export function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : 'no error';
}
