import type { RateLimitLease, RateLimiterStatistics } from '../src/index.js';
import { FakeClock } from '../src/testing/index.js';
import type { FakeControl } from './fakes.js';
import { SpecialValues } from './special-values.js';

/** What steps call, whichever kind of limiter it is; the arguments may be wrong on purpose. */
export interface Subject {
  attemptAcquire(...args: unknown[]): RateLimitLease;
  acquire(...args: unknown[]): Promise<RateLimitLease>;
  getStatistics(...args: unknown[]): RateLimiterStatistics | null;
  tryReplenish(): boolean;
  readonly idleDurationMs: number | null;
  dispose(): void;
}

/** A lease or a promise of one, under the name that a step gave it. */
export interface Outcome {
  status: 'pending' | 'fulfilled' | 'rejected';
  lease?: RateLimitLease;
  error?: unknown;
  readonly abort?: AbortController;
}

/** Everything that the steps of one scenario share. */
export class World {
  readonly clock: FakeClock;
  readonly values = new SpecialValues();
  readonly named = new Map<string, object>();
  readonly fakes = new Map<object, FakeControl>();
  readonly outcomes = new Map<string, Outcome>();
  readonly settled: string[] = [];
  readonly leaseDisposals: string[] = [];
  readonly seenPermits: number[] = [];
  readonly seenResources: unknown[] = [];
  readonly factoryCalls = new Map<string, number>();
  partitionerCalls = 0;
  translations = 0;

  constructor(clockStartMs = 12345) {
    this.clock = new FakeClock(clockStartMs);
  }

  subject(name: string): Subject {
    const found = this.named.get(name);
    if (found === undefined) throw new Error(`There is no limiter ${name}.`);
    return found as Subject;
  }

  outcome(name: string | undefined): Outcome {
    const found = this.outcomes.get(name ?? '');
    if (found === undefined) throw new Error(`There is no earlier step ${name}.`);
    return found;
  }
}

/** Lets everything that was promised so far settle. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
