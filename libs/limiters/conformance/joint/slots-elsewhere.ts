import type {
  AsyncPartitionedRateLimiter,
  AsyncRateLimiter,
  EndableWait,
  JointDecider,
  JointOutcome,
  JointWait,
  RateLimiterStatistics,
  RateLimitLease,
} from '../../src/index.js';
import {
  ConcurrencyLimiter,
  RateLimiter,
  createChainedPartitionedRateLimiter,
  isLeaseLost,
  jointDecision,
  RateLimitLease as Lease,
  undoLease,
} from '../../src/index.js';
import { partitionedAlways } from './remote-limiters.js';

/** What is granted elsewhere, which may be lost. */
class SlotLease extends Lease implements AsyncDisposable {
  readonly #lease: RateLimitLease;
  readonly #lost = new AbortController();
  /** Its chain has ended while it was waited for. */
  isEnded = false;
  /** What goes wrong when it is given back. */
  failing: Error | null = null;

  constructor(lease: RateLimitLease) {
    super();
    this.#lease = lease;
  }

  override get isAcquired(): boolean {
    return this.#lease.isAcquired;
  }

  override get metadataNames(): Iterable<string> {
    return this.#lease.metadataNames;
  }

  override getMetadata(name: string | { name: string }): undefined {
    const key = typeof name === 'string' ? name : name.name;
    return (
      this.isEnded && key === 'REASON_PHRASE' ? 'Limiter disposed' : this.#lease.getMetadata(key)
    ) as undefined;
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  get [isLeaseLost](): boolean {
    return this.#lost.signal.aborted;
  }

  [undoLease](): void {
    this.dispose();
    if (this.failing !== null) throw this.failing;
  }

  override dispose(): void {
    this.#lease.dispose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await soon();
    if (this.failing !== null) throw this.failing;
    this.dispose();
  }

  /** Others may have its permits from now on. */
  lose(reason: Error): void {
    this.#lost.abort(reason);
    this.dispose();
  }
}

/** One turn of the event loop, as an answer needs on its way. */
export const soon = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Permits that are counted elsewhere, in a place of their own, which a request asks and waits for. */
export class SlotsElsewhere implements AsyncRateLimiter {
  readonly name: string;
  readonly idleDurationMs = null;
  /** What happens while it is asked. */
  onAsk: () => void = () => undefined;
  /** What was granted last. */
  last: SlotLease | undefined;
  /** What has happened, in order. */
  readonly log: string[];
  readonly #limiter: ConcurrencyLimiter;
  readonly #isRate: boolean;

  constructor(
    name: string,
    { permitLimit = 1, queueLimit = 100, log = [] as string[], isRate = false } = {},
  ) {
    this.name = name;
    this.log = log;
    this.#isRate = isRate;
    this.#limiter = new ConcurrencyLimiter({ permitLimit, queueLimit });
  }

  get statistics(): RateLimiterStatistics {
    return this.#limiter.getStatistics();
  }

  get free(): number {
    return this.statistics.currentAvailablePermits;
  }

  get waiting(): number {
    return this.statistics.currentQueuedCount;
  }

  get [jointDecision](): JointDecider {
    return {
      domain: this.name,
      identity: 'slots',
      keepingOrder: this.#isRate ? undefined : this.name,
      acquire: (_limiters, permits, wait, waiting) => this.#ask(permits, wait, waiting),
      noteTakenBack: () => void this.log.push(`${this.name} taken back`),
    };
  }

  async acquire(permits: number = 1, wait: Partial<JointWait> = {}): Promise<RateLimitLease> {
    return (await this.#ask(permits, { maxWaitMs: Infinity, signal: undefined, ...wait })).lease;
  }

  getStatistics(): null {
    return null;
  }

  dispose(): void {
    this.#limiter.dispose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
  }

  async #ask(
    permits: number,
    { signal, maxWaitMs, onWait }: JointWait,
    waiting?: Set<EndableWait>,
  ): Promise<JointOutcome> {
    await soon();
    this.onAsk();
    let isEnded = false;
    let lease = this.#limiter.attemptAcquire(permits);
    if (!lease.isAcquired && maxWaitMs > 0) {
      const ending = new AbortController();
      const end = { dispose: () => ending.abort() };
      const signals = [ending.signal, ...(signal === undefined ? [] : [signal])];
      const asked = this.#limiter.acquire(permits, { signal: AbortSignal.any(signals), maxWaitMs });
      this.log.push(`${this.name} waited for`);
      waiting?.add(end);
      onWait?.();
      try {
        lease = await asked;
      } catch (error) {
        isEnded = ending.signal.aborted;
        if (!isEnded) throw error;
      } finally {
        waiting?.delete(end);
      }
      await soon();
    }
    if (lease.isAcquired) this.log.push(`${this.name} granted`);
    const answer = new SlotLease(lease);
    answer.isEnded = isEnded;
    if (answer.isAcquired) this.last = answer;
    return { lease: answer, refusedBy: answer.isAcquired ? -1 : 0, retryAfterOfAllMs: undefined };
  }
}

type Chain = AsyncPartitionedRateLimiter<string>;

/** A chain of limiters here and elsewhere, and of chains. */
export const chainOf = (...members: (SlotsElsewhere | RateLimiter | Chain)[]): Chain =>
  createChainedPartitionedRateLimiter(
    ...members.map((member) =>
      member instanceof SlotsElsewhere || member instanceof RateLimiter ? partitionedAlways(member) : member,
    ),
  );

/** Waits, but for no longer than a thousand turns of the event loop. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let turns = 0; !isSo(); turns++) {
    if (turns > 1_000) throw new Error('It never came to be so.');
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    await soon();
  }
}
