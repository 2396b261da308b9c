import * as fc from 'fast-check';
import {
  FixedWindowRateLimiter,
  MetadataName,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '../../src/index.js';
import type { RateLimiterStatistics, RateLimitLease } from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';
import { expectEqual, expectSame } from './compared.js';
import type { ExactRate, RateSetup } from './exact-rate.js';
import { exactRate } from './exact-rate.js';

const NANOSECONDS_PER_MS = 1_000_000;

const anyDurationNs = fc.oneof(
  fc.integer({ min: 1, max: 30 }).map((ms) => ms * NANOSECONDS_PER_MS),
  fc.integer({ min: 1, max: 1_000 }),
  fc.integer({ min: 1, max: 10 ** 13 }),
);
const anyLimit = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 8 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }) },
);

export function anyRateSetup(kind: RateSetup['kind']): fc.Arbitrary<RateSetup> {
  return fc
    .record({
      limit: anyLimit,
      durationNs: anyDurationNs,
      segments: fc.integer({ min: 1, max: 6 }),
      // How many periods fill the bucket.
      periods: fc.double({ min: 0.3, max: 20, noNaN: true }),
      isManual: fc.boolean(),
    })
    .map(({ periods, ...setup }) => {
      const tokensPerPeriod = Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(setup.limit / periods));
      return { ...setup, kind, tokensPerPeriod };
    });
}

/** One thing that happens. A part is one of the limit, or of the window or period. */
export type RateCommand =
  | { readonly do: 'ask'; readonly part: number; readonly key: number }
  /** To the moment at which so many are back, or just beside it. */
  | { readonly do: 'until'; readonly part: number; readonly besideNs: number; readonly key: number }
  | { readonly do: 'pass'; readonly part: number }
  | { readonly do: 'replenish' };

const anyPart = fc.double({ min: 0, max: 1, noNaN: true });
const anyKey = fc.nat({ max: 2 });

export const anyRateTrace: fc.Arbitrary<RateCommand[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('ask' as const), part: anyPart, key: anyKey }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('until' as const),
        part: anyPart,
        besideNs: fc.integer({ min: -1, max: 1 }),
        key: anyKey,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('pass' as const),
        part: fc.double({ min: -0.5, max: 3, noNaN: true }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('replenish' as const) }) },
  ),
  { minLength: 1, maxLength: 40, size: 'max' },
);

/** What a limiter can be asked without waiting. */
export interface RateSubject {
  attemptAcquire(permits: number): RateLimitLease;
  getStatistics(): RateLimiterStatistics | null;
  /** `undefined` where it can't be asked for. */
  readonly idleDurationMs?: number | null;
  tryReplenish?(): boolean;
}

/** The options of the limiter that a setup means. */
export function rateOptions(setup: RateSetup, clock?: FakeClock): RateOptions {
  const durationMs = setup.durationNs / NANOSECONDS_PER_MS;
  return {
    permitLimit: setup.limit,
    tokenLimit: setup.limit,
    windowMs: durationMs,
    segmentsPerWindow: setup.segments,
    tokensPerPeriod: setup.tokensPerPeriod,
    replenishmentPeriodMs: durationMs,
    refill: setup.kind === 'greedyBucket' ? 'greedy' : 'interval',
    autoReplenishment: !setup.isManual,
    ...(clock === undefined ? {} : { clock }),
  };
}

interface RateOptions {
  permitLimit: number;
  tokenLimit: number;
  windowMs: number;
  segmentsPerWindow: number;
  tokensPerPeriod: number;
  replenishmentPeriodMs: number;
  refill: 'greedy' | 'interval';
  autoReplenishment: boolean;
  clock?: FakeClock;
}

export function createRate(setup: RateSetup, clock: FakeClock): RateSubject {
  const options = rateOptions(setup, clock);
  if (setup.kind === 'fixedWindow') return new FixedWindowRateLimiter(options);
  if (setup.kind === 'slidingWindow') return new SlidingWindowRateLimiter(options);
  return new TokenBucketRateLimiter(options);
}

/** Limiters of one setup and a clock, each beside its exact model; returns what differs. */
export class RateTrial {
  readonly clock = new FakeClock(12_345);
  readonly #setup: RateSetup;
  readonly #create: (key: number) => RateSubject;
  readonly #pairs = new Map<number, { subject: RateSubject; model: ExactRate; sinceNs: number }>();
  #nowNs = 0;

  constructor(setup: RateSetup, create: (clock: FakeClock) => (key: number) => RateSubject) {
    this.#setup = setup;
    this.#create = create(this.clock);
  }

  run(command: RateCommand): void {
    if (command.do === 'ask') this.#ask(command.key, command.part);
    else if (command.do === 'pass')
      this.#moveTo(this.#nowNs + Math.round(command.part * this.#setup.durationNs));
    else if (command.do === 'replenish') this.#replenish();
    else {
      const pair = this.#pairs.get(command.key);
      // A partition begins with its first request.
      if (pair === undefined) return;
      const { model, sinceNs } = pair;
      const permits = BigInt(Math.max(1, this.#permits(command.part)));
      if (model.available >= permits) return;
      this.#moveTo(sinceNs + Number(model.dueAt(permits)) + command.besideNs);
    }
  }

  /** Compares what can be seen of each. */
  look(): void {
    for (const { subject, model, sinceNs } of this.#pairs.values()) {
      const now = BigInt(this.#nowNs - sinceNs);
      if (!this.#setup.isManual) model.apply(now);
      if (subject.idleDurationMs !== undefined) {
        expectSame(subject.idleDurationMs, model.fullSince === null ? null : toMs(now - model.fullSince));
      }
      expectSame(subject.getStatistics()!.currentAvailablePermits, Number(model.available));
    }
  }

  #ask(key: number, part: number): void {
    const { subject, model, sinceNs } = this.#pair(key);
    const now = BigInt(this.#nowNs - sinceNs);
    const permits = this.#permits(part);
    const lease = subject.attemptAcquire(permits);
    if (!this.#setup.isManual) model.apply(now);
    expectSame(lease.isAcquired, model.ask(BigInt(permits), now));
    const untilFull = model.fullSince === null ? model.dueAt(BigInt(this.#setup.limit)) - now : 0n;
    expectEqual(
      lease.quota().map(({ remaining, resetAfterMs }) => ({ remaining, resetAfterMs })),
      [{ remaining: Number(model.available), resetAfterMs: toMs(untilFull) }],
    );
    if (lease.isAcquired) return;
    const dueIn = model.dueAt(BigInt(Math.max(1, permits))) - now;
    const retryAfterMs = Number((dueIn + BigInt(NANOSECONDS_PER_MS - 1)) / BigInt(NANOSECONDS_PER_MS));
    expectSame(lease.getMetadata(MetadataName.retryAfter), Math.max(1, retryAfterMs));
  }

  #replenish(): void {
    for (const { subject, model, sinceNs } of this.#pairs.values()) {
      if (subject.tryReplenish === undefined) continue;
      const isApplied = this.#setup.isManual && model.apply(BigInt(this.#nowNs - sinceNs));
      expectSame(subject.tryReplenish(), isApplied);
    }
  }

  #pair(key: number): { subject: RateSubject; model: ExactRate; sinceNs: number } {
    let pair = this.#pairs.get(key);
    if (pair === undefined) {
      pair = { subject: this.#create(key), model: exactRate(this.#setup), sinceNs: this.#nowNs };
      this.#pairs.set(key, pair);
    }
    return pair;
  }

  #moveTo(nowNs: number): void {
    this.clock.advance((nowNs - this.#nowNs) / NANOSECONDS_PER_MS);
    this.#nowNs = Math.round((this.clock.now() - 12_345) * NANOSECONDS_PER_MS);
  }

  #permits(part: number): number {
    return Math.round(part * this.#setup.limit);
  }
}

function toMs(nanoseconds: bigint): number {
  return nanoseconds < 0n ? 0 : Number(nanoseconds) / NANOSECONDS_PER_MS;
}
