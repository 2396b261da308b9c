import type { RateLimiterStatistics } from '../src/index.js';
import {
  PartitionedRateLimiter,
  RateLimiter,
  RateLimitLease,
  ReplenishingRateLimiter,
} from '../src/index.js';
import type { World } from './world.js';

type Outcome = 'acquire' | 'fail' | 'throw';

/** How a limiter of another maker is scripted to behave. */
export interface FakeScript {
  attempt?: Outcome;
  acquire?: Outcome;
  tryReplenish?: boolean | 'throw';
  dispose?: 'throw';
  leaseDispose?: 'throw';
  metadata?: Readonly<Record<string, unknown>>;
  statistics?: RateLimiterStatistics | null;
  replenishing?: boolean;
  idleMs?: number | null;
}

/** The error that scripted failures throw. */
export class FakeError extends Error {}

/** The script of a fake, and how often it was called. */
export class FakeControl {
  readonly script: FakeScript;
  readonly counts = { attempt: 0, acquire: 0, statistics: 0, dispose: 0, tryReplenish: 0, leaseDispose: 0 };
  readonly #name: string;
  readonly #world: World;

  constructor(world: World, name: string, script: FakeScript) {
    this.#world = world;
    this.#name = name;
    this.script = { ...script };
  }

  attempt(permits: number): RateLimitLease {
    this.counts.attempt++;
    return this.#lease(this.script.attempt, permits);
  }

  acquire(permits: number): RateLimitLease {
    this.counts.acquire++;
    return this.#lease(this.script.acquire, permits);
  }

  replenish(): boolean {
    this.counts.tryReplenish++;
    if (this.script.tryReplenish === 'throw') throw this.#failure('tryReplenish');
    return this.script.tryReplenish ?? true;
  }

  statistics(): RateLimiterStatistics | null {
    this.counts.statistics++;
    return this.script.statistics ?? null;
  }

  dispose(): void {
    this.counts.dispose++;
    if (this.script.dispose === 'throw') throw this.#failure('dispose');
  }

  disposeLease(): void {
    this.counts.leaseDispose++;
    this.#world.leaseDisposals.push(this.#name);
    if (this.script.leaseDispose === 'throw') throw this.#failure('lease dispose');
  }

  #lease(outcome: Outcome | undefined, permits: number): RateLimitLease {
    this.#world.seenPermits.push(permits);
    if (outcome === 'throw') throw this.#failure('acquisition');
    return new FakeLease(this, outcome !== 'fail');
  }

  #failure(what: string): FakeError {
    return new FakeError(`${this.#name} ${what} threw`);
  }
}

class FakeLease extends RateLimitLease {
  readonly #control: FakeControl;
  readonly #isAcquired: boolean;

  constructor(control: FakeControl, isAcquired: boolean) {
    super();
    this.#control = control;
    this.#isAcquired = isAcquired;
  }

  override get isAcquired(): boolean {
    return this.#isAcquired;
  }

  override get metadataNames(): Iterable<string> {
    return Object.keys(this.#control.script.metadata ?? {});
  }

  override getMetadata(name: string | { name: string }): undefined {
    const key = typeof name === 'string' ? name : name.name;
    const metadata = this.#control.script.metadata ?? {};
    return (Object.hasOwn(metadata, key) ? metadata[key] : undefined) as undefined;
  }

  override dispose(): void {
    this.#control.disposeLease();
  }
}

/** A limiter that decides by a script, as a foreign subclass would by its own rules. */
export class FakeLimiter extends RateLimiter {
  readonly control: FakeControl;

  constructor(control: FakeControl) {
    super();
    this.control = control;
  }

  override get idleDurationMs(): number | null {
    return this.control.script.idleMs ?? null;
  }

  override getStatistics(): RateLimiterStatistics | null {
    return this.control.statistics();
  }

  override tryReplenish(): boolean {
    return this.control.replenish();
  }

  override dispose(): void {
    this.control.dispose();
  }

  protected override attemptAcquireCore(permits: number): RateLimitLease {
    return this.control.attempt(permits);
  }

  protected override async acquireCore(permits: number): Promise<RateLimitLease> {
    return this.control.acquire(permits);
  }
}

/** The same as a limiter that replenishes. */
export class FakeReplenishingLimiter extends ReplenishingRateLimiter {
  readonly control: FakeControl;

  constructor(control: FakeControl) {
    super();
    this.control = control;
  }

  override get isAutoReplenishing(): boolean {
    return false;
  }

  override get replenishmentPeriodMs(): number {
    return 0;
  }

  override get idleDurationMs(): number | null {
    return this.control.script.idleMs ?? null;
  }

  override getStatistics(): RateLimiterStatistics | null {
    return this.control.statistics();
  }

  override tryReplenish(): boolean {
    return this.control.replenish();
  }

  override dispose(): void {
    this.control.dispose();
  }

  protected override attemptAcquireCore(permits: number): RateLimitLease {
    return this.control.attempt(permits);
  }

  protected override async acquireCore(permits: number): Promise<RateLimitLease> {
    return this.control.acquire(permits);
  }
}

/** The same as a partitioned limiter. */
export class FakePartitionedLimiter extends PartitionedRateLimiter<unknown> {
  readonly control: FakeControl;
  readonly #world: World;

  constructor(world: World, control: FakeControl) {
    super();
    this.#world = world;
    this.control = control;
  }

  override getStatistics(): RateLimiterStatistics | null {
    return this.control.statistics();
  }

  override dispose(): void {
    this.control.dispose();
  }

  protected override attemptAcquireCore(resource: unknown, permits: number): RateLimitLease {
    this.#world.seenResources.push(resource);
    return this.control.attempt(permits);
  }

  protected override async acquireCore(resource: unknown, permits: number): Promise<RateLimitLease> {
    this.#world.seenResources.push(resource);
    return this.control.acquire(permits);
  }
}
