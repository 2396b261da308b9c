import type {
  AcquireOptions,
  AsyncPartitionedRateLimiter,
  AsyncRateLimiter,
  RateLimitLease,
} from '../index.js';
import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  MetadataName,
  RateLimiter,
  RateLimitPartition,
} from '../index.js';
import { partitionedAlways, Server } from '../../conformance/joint/remote-limiters.js';

type Chain = AsyncPartitionedRateLimiter<string>;

const reasonOf = (lease: RateLimitLease): string | undefined => lease.getMetadata(MetadataName.reasonPhrase);
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Of another maker: waits until it grants or is aborted, and tells which. */
class Waiting extends RateLimiter {
  isWaiting = false;
  grant: () => void = () => undefined;
  heard: AbortSignal | undefined;

  override get idleDurationMs(): null {
    return null;
  }

  override getStatistics(): null {
    return null;
  }

  protected override attemptAcquireCore(): RateLimitLease {
    throw new Error('It is waited for.');
  }

  protected override acquireCore(_permits: number, signal?: AbortSignal): Promise<RateLimitLease> {
    return this.wait(signal);
  }

  protected wait(signal?: AbortSignal): Promise<RateLimitLease> {
    this.isWaiting = true;
    this.heard = signal;
    return new Promise((resolve, reject) => {
      this.grant = () => resolve(new ConcurrencyLimiter({ permitLimit: 1 }).attemptAcquire());
      signal?.addEventListener('abort', () => {
        this.isWaiting = false;
        reject(signal.reason as Error);
      });
    });
  }
}

/** The same for limiters that can't answer at once. */
class WaitingElsewhere extends Waiting implements AsyncRateLimiter {
  override acquire(_permits?: number, options?: AcquireOptions): Promise<RateLimitLease> {
    return this.wait(options?.signal);
  }
}

const slots = (limiter: ConcurrencyLimiter): Chain =>
  createPartitionedRateLimiter((key: string) => RateLimitPartition.get(key, () => limiter));
const oneOf = (limiter: AsyncRateLimiter): Chain => partitionedAlways(limiter);

/** A chain whose request waits in a limiter that knows nothing of chains, once the others have granted. */
const makings: [
  string,
  (held: ConcurrencyLimiter, waiting: Waiting) => { acquire: typeof acquireOf; end: () => void },
][] = [
  [
    'of limiters',
    (held, waiting) => {
      const chain = createChainedRateLimiter(held, waiting);
      return { acquire: (options) => chain.acquire(1, options), end: () => chain.dispose() };
    },
  ],
  [
    'of partitioned limiters',
    (held, waiting) => {
      const chain = createChainedPartitionedRateLimiter(slots(held), oneOf(waiting));
      return { acquire: (options) => chain.acquire('a', 1, options), end: () => void chain.dispose() };
    },
  ],
  [
    'with a limiter elsewhere',
    (held, waiting) => {
      const chain = createChainedPartitionedRateLimiter(
        new Server().partitioned('s'),
        oneOf(waiting),
        slots(held),
      );
      return { acquire: (options) => chain.acquire('a', 1, options), end: () => void chain.dispose() };
    },
  ],
  [
    'around a chain',
    (held, waiting) => {
      const inner = createChainedPartitionedRateLimiter(slots(held), oneOf(waiting));
      const chain = createChainedPartitionedRateLimiter(new Server().partitioned('s'), inner);
      return { acquire: (options) => chain.acquire('a', 1, options), end: () => void chain.dispose() };
    },
  ],
  [
    'within a chain',
    (held, waiting) => {
      const inner = createChainedPartitionedRateLimiter(slots(held), oneOf(waiting));
      const chain = createChainedPartitionedRateLimiter(new Server().partitioned('s'), inner);
      return { acquire: (options) => chain.acquire('a', 1, options), end: () => void inner.dispose() };
    },
  ],
];
declare function acquireOf(options?: AcquireOptions): Promise<RateLimitLease>;

describe.each(makings)(
  'a request that waits in a limiter of another maker, for a chain %s',
  (_kind, make) => {
    const setUp = (): ReturnType<(typeof makings)[number][1]> & {
      held: ConcurrencyLimiter;
      waiting: Waiting;
    } => {
      const held = new ConcurrencyLimiter({ permitLimit: 1 });
      const waiting = new WaitingElsewhere();
      return { ...make(held, waiting), held, waiting };
    };

    it('is refused with the end of the chain, and given up there', async () => {
      const { acquire, end, held, waiting } = setUp();
      const asked = acquire();
      await settled();
      expect(waiting.isWaiting).toBe(true);
      end();
      expect(reasonOf(await asked)).toBe('Limiter disposed');
      expect(waiting.isWaiting).toBe(false);
      expect(held.getStatistics().currentAvailablePermits).toBe(1);
    });

    it('is aborted as ever', async () => {
      const { acquire, waiting } = setUp();
      const controller = new AbortController();
      const asked = acquire({ signal: controller.signal });
      await settled();
      controller.abort(new Error('enough'));
      await expect(asked).rejects.toThrow('enough');
      expect(waiting.isWaiting).toBe(false);
    });

    it('is not aborted any more once it was granted, when the chain ends', async () => {
      const { acquire, end, waiting } = setUp();
      const asked = acquire();
      await settled();
      waiting.grant();
      expect((await asked).isAcquired).toBe(true);
      end();
      expect(waiting.heard!.aborted).toBe(false);
    });
  },
);

describe('a request that a chain asks elsewhere', () => {
  it('is taken back where the chain has ended before the answer', async () => {
    const server = new Server();
    const chain = createChainedPartitionedRateLimiter(server.partitioned('a'), server.partitioned('b'));
    const asked = chain.acquire('key');
    await chain[Symbol.asyncDispose]();
    expect(reasonOf(await asked)).toBe('Limiter disposed');
    expect(server.log).toEqual(['ask a+b for 1', 'undone a+b']);
  });

  it('asks nobody else where the chain has ended meanwhile', async () => {
    const server = new Server();
    const chain = createChainedPartitionedRateLimiter(
      server.partitioned('a', 'here'),
      server.partitioned('b', 'there'),
    );
    const asked = chain.acquire('key');
    await chain[Symbol.asyncDispose]();
    expect(reasonOf(await asked)).toBe('Limiter disposed');
    expect(server.log).toEqual(['ask a for 1', 'undone a']);
  });
});
