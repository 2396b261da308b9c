import {
  createPartitionedRateLimiter,
  jointDecision,
  RateLimitLease,
  RateLimitPartition,
  undoLease,
} from '../../src/index.js';
import type {
  AsyncPartitionedRateLimiter,
  AsyncRateLimiter,
  JointDecider,
  JointOutcome,
  RateLimitQuota,
  WaitLimits,
} from '../../src/index.js';

import { FakeClock } from '../../src/testing/index.js';

/** What a limiter elsewhere answers. */
class RemoteLease extends RateLimitLease {
  override readonly isAcquired: boolean;
  readonly #quota: readonly RateLimitQuota[];
  readonly #onEnd: (how: string) => void;

  constructor(isAcquired: boolean, quota: readonly RateLimitQuota[], onEnd: (how: string) => void) {
    super();
    this.isAcquired = isAcquired;
    this.#quota = quota;
    this.#onEnd = onEnd;
  }

  override get metadataNames(): Iterable<string> {
    return this.isAcquired ? [] : ['RETRY_AFTER'];
  }

  override getMetadata(name: string | { name: string }): undefined {
    const key = typeof name === 'string' ? name : name.name;
    return (key === 'RETRY_AFTER' && !this.isAcquired ? 40 : undefined) as undefined;
  }

  override quota(): readonly RateLimitQuota[] {
    return this.#quota;
  }

  override dispose(): void {
    this.#onEnd('disposed');
  }
}

/** The same with a way to be taken back. */
export class UndoableLease extends RemoteLease {
  undo: () => void = () => undefined;

  [undoLease](): void {
    this.undo();
  }
}

/** Where limiters decide together, and what they were asked. */
export class Server {
  readonly log: string[] = [];
  readonly waits: WaitLimits[] = [];
  readonly refusing = new Set<string>();
  failing: string | null = null;
  canUndo = true;
  undoError: Error | null = null;
  readonly clock = new FakeClock();
  /** What happens while it decides. */
  onAsk: () => void = () => undefined;

  /** @param domain - where it decides; `null`: alone. */
  limiter(name: string, domain: string | null = 'server', identity: string = name): RemoteLimiter {
    return domain === null ? new RemoteLimiter(name, this) : new JointLimiter(name, this, domain, identity);
  }

  /** A partitioned limiter of one partition. */
  partitioned(name: string, domain?: string | null, identity?: string): AsyncPartitionedRateLimiter<string> {
    return partitionedAlways(this.limiter(name, domain, identity));
  }

  async ask(limiters: readonly RemoteLimiter[], permits: number, wait: WaitLimits): Promise<JointOutcome> {
    const names = limiters.map(({ name }) => name);
    this.log.push(`ask ${names.join('+')} for ${permits}`);
    this.waits.push(wait);
    this.onAsk();
    if (this.failing !== null && names.includes(this.failing)) throw new Error(`${this.failing} failed`);
    const refusedBy = names.findIndex((name) => this.refusing.has(name));
    const quota = names.map((name, member) => ({
      limit: name.charCodeAt(0),
      remaining: 0,
      resetAfterMs: 7,
      windowMs: 9,
      member,
    }));
    const end = (how: string): void => void this.log.push(`${how} ${names.join('+')}`);
    const Lease = this.canUndo ? UndoableLease : RemoteLease;
    const lease = new Lease(refusedBy < 0, quota, end);
    if (lease instanceof UndoableLease) {
      lease.undo = () => {
        end('undone');
        if (this.undoError !== null) throw this.undoError;
      };
    }
    return { lease, refusedBy, retryAfterOfAllMs: refusedBy < 0 ? undefined : 500 };
  }
}

class RemoteLimiter implements AsyncRateLimiter {
  readonly idleDurationMs = null;
  readonly name: string;
  protected readonly server: Server;

  constructor(name: string, server: Server) {
    this.name = name;
    this.server = server;
  }

  async acquire(permits: number = 1, options: object = {}): Promise<RateLimitLease> {
    return (await this.server.ask([this], permits, options as WaitLimits)).lease;
  }

  getStatistics(): null {
    return null;
  }

  dispose(): void {
    // It is another's.
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
  }
}

class JointLimiter extends RemoteLimiter {
  readonly [jointDecision]: JointDecider;

  // oxlint-disable-next-line max-params -- what it is, and where
  constructor(name: string, server: Server, domain: string, identity: string) {
    super(name, server);
    this[jointDecision] = {
      domain,
      identity,
      clock: server.clock,
      acquire: (limiters, permits, wait) => server.ask(limiters as RemoteLimiter[], permits, wait),
    };
  }
}

/** A partitioned limiter with one partition. */
export function partitionedAlways(limiter: AsyncRateLimiter): AsyncPartitionedRateLimiter<string> {
  return createPartitionedRateLimiter((_resource: string) => RateLimitPartition.get('all', () => limiter));
}
