import { PartitionedRateLimiter, RateLimitLease } from '../../src/index.js';

/** A limiter of another maker: grants at once when asked at once, and those who wait when it is told to. */
export class HandGranted extends PartitionedRateLimiter<unknown> {
  /** How many leases are out. */
  held = 0;
  readonly #waiting: ((lease: RateLimitLease) => void)[] = [];

  override getStatistics(): null {
    return null;
  }

  /** Grants those who wait, whether they have given up or not. */
  grant(): void {
    for (const resolve of this.#waiting.splice(0)) resolve(this.attemptAcquireCore());
  }

  protected override attemptAcquireCore(): RateLimitLease {
    this.held++;
    return new HandLease(() => this.held--);
  }

  protected override acquireCore(): Promise<RateLimitLease> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}

class HandLease extends RateLimitLease {
  readonly #end: () => void;
  #hasEnded = false;

  constructor(end: () => void) {
    super();
    this.#end = end;
  }

  override get isAcquired(): boolean {
    return true;
  }

  override get metadataNames(): Iterable<string> {
    return ['NOTE'];
  }

  override getMetadata(name: unknown): never {
    const key = typeof name === 'string' ? name : (name as { name: string }).name;
    return (key === 'NOTE' && !this.#hasEnded ? 'by hand' : undefined) as never;
  }

  override dispose(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#end();
  }
}
