import { chainParticipants, participantsOf } from './chain-participant.js';
import type { ChainParticipant, Reservation } from './chain-participant.js';
import { ConcurrencyLimiter, createChainedRateLimiter } from '../index.js';
import type { RateLimiter, RateLimitLease } from '../index.js';
import type { Waiter } from '../queue/waiter.js';
import { FakeClock } from '../testing/index.js';

/** Takes the permits of another one, and doesn't say how many it needs. */
class SilentParticipant implements ChainParticipant {
  readonly name = 'Silent';
  readonly takesFrom: ChainParticipant;

  constructor(takesFrom: ChainParticipant) {
    this.takesFrom = takesFrom;
  }

  get creationOrder(): number {
    return this.takesFrom.creationOrder + 0.5;
  }

  get permitLimit(): number {
    return this.takesFrom.permitLimit;
  }

  get isDisposed(): boolean {
    return this.takesFrom.isDisposed;
  }

  get clock() {
    return this.takesFrom.clock;
  }

  get isHeld(): boolean {
    return this.takesFrom.isHeld;
  }

  isSame(other: ChainParticipant): boolean {
    return other === this;
  }

  bringUpToDate(): void {
    this.takesFrom.bringUpToDate();
  }

  canGrant(permits: number): boolean {
    return this.takesFrom.canGrant(permits);
  }

  hasEnough(permits: number): boolean {
    return this.takesFrom.hasEnough(permits);
  }

  take(permits: number): RateLimitLease {
    return this.takesFrom.take(permits);
  }

  refuse(permits: number): RateLimitLease {
    return this.takesFrom.refuse(permits);
  }

  refusalToWait(permits: number, maxWaitMs: number, isReserving: boolean): RateLimitLease | null {
    return this.takesFrom.refusalToWait(permits, maxWaitMs, isReserving);
  }

  enter(waiter: Waiter): void {
    this.takesFrom.enter(waiter);
  }

  reserve(permits: number): Reservation | null {
    return this.takesFrom.reserve(permits);
  }

  reserveInTurn(permits: number): Reservation {
    return this.takesFrom.reserveInTurn(permits);
  }

  hold(waiter: Waiter): void {
    this.takesFrom.hold(waiter);
  }

  unhold(waiter: Waiter): void {
    this.takesFrom.unhold(waiter);
  }

  quota() {
    return this.takesFrom.quota();
  }

  retryAfterMs(permits: number): number | undefined {
    return this.takesFrom.retryAfterMs(permits);
  }
}

/** A limiter of another maker over one of ours. */
class Over extends ConcurrencyLimiter {
  readonly #base: RateLimiter;

  constructor(base: RateLimiter) {
    super({ permitLimit: 1 });
    this.#base = base;
  }

  override [chainParticipants](): readonly ChainParticipant[] {
    return [new SilentParticipant(participantsOf(this.#base)![0]!)];
  }

  protected override attemptAcquireCore(permits: number): RateLimitLease {
    return this.#base.attemptAcquire(permits);
  }
}

const limited = (permitLimit: number) => new ConcurrencyLimiter({ permitLimit, clock: new FakeClock() });

describe('a member of another maker that doesn’t say how many permits of another member it needs', () => {
  it.each(['before', 'behind'])(
    'makes a chain ask one after the other where both are in it (%s)',
    (where) => {
      for (const permitLimit of [1, 2]) {
        const base = limited(permitLimit);
        const both = where === 'before' ? [new Over(base), base] : [base, new Over(base)];
        const lease = createChainedRateLimiter(...both).attemptAcquire();
        expect(lease.isAcquired).toBe(permitLimit === 2);
        expect(base.getStatistics().currentAvailablePermits).toBe(permitLimit === 2 ? 0 : 1);
        lease.dispose();
        expect(base.getStatistics().currentAvailablePermits).toBe(permitLimit);
      }
    },
  );

  it('is asked together with all that have permits of their own', () => {
    const [base, full] = [limited(1), limited(1)];
    full.attemptAcquire();
    const lease = createChainedRateLimiter(new Over(base), full).attemptAcquire();
    expect(lease.isAcquired).toBe(false);
    // One that was asked first, and had to give back, would have counted it.
    expect(base.getStatistics().totalSuccessfulLeases).toBe(0);
  });
});

describe('a request that reserves of a limiter that stands twice in its chain', () => {
  it('sets aside what both places need', async () => {
    const clock = new FakeClock();
    const twice = new ConcurrencyLimiter({ permitLimit: 3, queueLimit: 5, clock });
    const last = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5, clock });
    const gone = new AbortController();
    let held = [last.attemptAcquire()];
    const waiting = createChainedRateLimiter(twice, last, twice)
      .acquire(1, { signal: gone.signal })
      .catch((reason: unknown) => reason);
    // Each time that it is its turn the other one refuses; the last time it is its turn where it is there twice.
    for (let passed = 0; passed < 4; passed++) {
      const other = passed % 2 === 0 ? [twice.attemptAcquire(2)] : [last.attemptAcquire()];
      for (const lease of held) lease.dispose();
      held = other;
    }
    expect(twice.getStatistics().currentAvailablePermits).toBe(1);
    gone.abort('gone');
    expect(await waiting).toBe('gone');
    expect(twice.getStatistics().currentAvailablePermits).toBe(3);
    for (const lease of held) lease.dispose();
    expect(last.getStatistics().currentAvailablePermits).toBe(1);
  });
});
