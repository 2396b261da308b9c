import { chainParticipants, ConcurrencyLimiter, RateLimitLease } from '../../src/index.js';
import type { AcquireOptions, ConcurrencyLimiterOptions, RateLimiter } from '../../src/index.js';
import type { FakeClock } from '../../src/testing/index.js';

export const LIMIT = 3;
export const QUEUE_LIMIT = 6;

/** What a limiter does otherwise than the one behind it. */
export interface Fault {
  attemptAcquire?(inner: ConcurrencyLimiter, permits: number | undefined): RateLimitLease;
  acquire?(
    inner: ConcurrencyLimiter,
    permits: number | undefined,
    options: AcquireOptions | undefined,
  ): Promise<RateLimitLease>;
  getStatistics?(inner: ConcurrencyLimiter): unknown;
  idleDurationMs?(inner: ConcurrencyLimiter): unknown;
  isAutoReplenishing?(inner: ConcurrencyLimiter): unknown;
  replenishmentPeriodMs?(inner: ConcurrencyLimiter): unknown;
  tryReplenish?(inner: ConcurrencyLimiter): unknown;
  dispose?(inner: ConcurrencyLimiter): void;
}

const GETTERS = ['idleDurationMs', 'isAutoReplenishing', 'replenishmentPeriodMs'];

/** A limiter with faults; made anew for each check, and so are its faults. */
export function faulty(
  fault: (clock: FakeClock) => Fault,
  options: Partial<ConcurrencyLimiterOptions> = {},
): (clock: FakeClock) => RateLimiter {
  return (clock) => {
    const inner = new ConcurrencyLimiter({ permitLimit: LIMIT, queueLimit: QUEUE_LIMIT, clock, ...options });
    const faults = fault(clock) as Record<string, ((...args: unknown[]) => unknown) | undefined>;
    return new Proxy(inner, {
      get(_target, name) {
        // Chains have to ask it, not what is behind it.
        if (name === chainParticipants) return undefined;
        const own = faults[name as string];
        if (own === undefined) {
          const value: unknown = Reflect.get(inner, name, inner);
          return typeof value === 'function' ? value.bind(inner) : value;
        }
        return GETTERS.includes(name as string) ? own(inner) : (...args: unknown[]) => own(inner, ...args);
      },
    });
  };
}

/** What a lease does otherwise than the one behind it. */
interface LeaseFault {
  readonly isAcquired?: boolean;
  readonly metadataNames?: readonly string[];
  getMetadata?(name: unknown): unknown;
  dispose?(): void;
}

/** A lease with faults. */
export class FaultyLease extends RateLimitLease {
  readonly #inner: RateLimitLease;
  readonly #fault: LeaseFault;

  constructor(inner: RateLimitLease, fault: LeaseFault) {
    super();
    this.#inner = inner;
    this.#fault = fault;
  }

  override get isAcquired(): boolean {
    return this.#fault.isAcquired ?? this.#inner.isAcquired;
  }

  override get metadataNames(): Iterable<string> {
    return this.#fault.metadataNames ?? this.#inner.metadataNames;
  }

  override getMetadata(name: string | { readonly name: string }): undefined {
    const value = this.#fault.getMetadata?.(name);
    const key = typeof name === 'string' ? name : name.name;
    return (value ?? this.#inner.getMetadata(key)) as undefined;
  }

  override dispose(): void {
    if (this.#fault.dispose === undefined) this.#inner.dispose();
    else this.#fault.dispose();
  }
}

/** A lease that holds nothing. */
export function leaseOf(isAcquired: boolean): RateLimitLease {
  const nothing = new ConcurrencyLimiter({ permitLimit: 1 }).attemptAcquire(0);
  return new FaultyLease(nothing, { isAcquired });
}

/** A check, what it says, and the limiter that it says it of. */
export type FaultyCase = [check: string, message: string, create: (clock: FakeClock) => RateLimiter];
