import type { RateLimitLease, RateLimitPartition as Partition } from '../index.js';
import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  RateLimitPartition,
} from '../index.js';
import type { Visit } from '../../conformance/linked/visits.js';
import { perGroup, Session, visit, VisitLimiter } from '../../conformance/linked/visits.js';
import { FakeClock } from '../testing/index.js';

/** Asks with a signal that is aborted in the midst of the decision. */
type Ask = (controller: AbortController) => Promise<RateLimitLease>;

const OPTIONS = { permitLimit: 1, queueLimit: 5 };

/** All permits are taken before. */
function busy(options: { readonly clock?: FakeClock } = {}): ConcurrencyLimiter {
  const limiter = new ConcurrencyLimiter({ ...OPTIONS, ...options });
  limiter.attemptAcquire();
  return limiter;
}

class AbortingClock extends FakeClock {
  controller: AbortController | null = null;

  override now(): number {
    this.controller?.abort();
    return super.now();
  }
}

class AbortingSession extends Session {
  readonly #controller: AbortController;

  constructor(controller: AbortController) {
    super();
    this.#controller = controller;
  }

  protected override tryGetLease(): RateLimitLease | undefined {
    this.#controller.abort();
    return undefined;
  }
}

function askPartitions(
  partition: (controller: AbortController) => Partition<string>,
  isInChain = false,
): Ask {
  return (controller) => {
    const limiter = createPartitionedRateLimiter<Visit, string>(() => partition(controller));
    const { signal } = controller;
    return isInChain
      ? createChainedPartitionedRateLimiter(limiter, perGroup(1)).acquire(visit(null), 1, { signal })
      : limiter.acquire(visit(null), 1, { signal });
  };
}

const by: Record<string, Ask> = {
  'a partitioner': askPartitions((controller) => {
    controller.abort();
    return RateLimitPartition.get('a', () => busy());
  }),
  'a partitioner of a chain': askPartitions((controller) => {
    controller.abort();
    return RateLimitPartition.get('a', () => busy());
  }, true),
  'a factory': askPartitions((controller) =>
    RateLimitPartition.get('a', () => {
      controller.abort();
      return busy();
    }),
  ),
  'a store': (controller) => {
    const base = perGroup(1, { queueLimit: 5 });
    base.attemptAcquire(visit(null));
    const { signal } = controller;
    return new VisitLimiter(base).acquire(visit(new AbortingSession(controller)), 1, { signal });
  },
  'a store in a chain': (controller) => {
    const base = perGroup(1, { queueLimit: 5 });
    base.attemptAcquire(visit(null));
    const chain = createChainedPartitionedRateLimiter(new VisitLimiter(base), perGroup(1));
    return chain.acquire(visit(new AbortingSession(controller)), 1, { signal: controller.signal });
  },
  'a clock': (controller) => {
    const clock = new AbortingClock();
    const limiter = busy({ clock });
    clock.controller = controller;
    return limiter.acquire(1, { signal: controller.signal, maxWaitMs: 5 });
  },
  'a clock in a chain': (controller) => {
    const clock = new AbortingClock();
    const chain = createChainedRateLimiter(busy({ clock }), new ConcurrencyLimiter(OPTIONS));
    clock.controller = controller;
    return chain.acquire(1, { signal: controller.signal, maxWaitMs: 5 });
  },
};

describe('a request that is aborted while it is decided on', () => {
  it.each(Object.entries(by))('doesn’t wait on where it is aborted by %s', async (_, ask) => {
    const controller = new AbortController();
    const pending = new Promise((resolve) => void setImmediate(() => resolve('pending')));
    const outcome = await Promise.race([ask(controller), pending]).catch((error: unknown) => error);
    expect(controller.signal.aborted).toBe(true);
    expect(outcome).toBe(controller.signal.reason);
  });

  it('leaves its session to the next one', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    const held = base.attemptAcquire(visit(null));
    const limiter = new VisitLimiter(base);
    const controller = new AbortController();
    const session = new AbortingSession(controller);
    const aborted = limiter.acquire(visit(session), 1, { signal: controller.signal });
    const next = limiter.acquire(visit(session));
    await expect(aborted).rejects.toBe(controller.signal.reason);
    held.dispose();
    expect((await next).isAcquired).toBe(true);
  });
});
