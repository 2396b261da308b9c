import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  getManagedLifetimeLimiter,
  MetadataName,
  ObjectDisposedError,
  PartitionedRateLimiter,
  RateLimitPartition,
} from '../index.js';
import type {
  AsyncPartitionedRateLimiter,
  DefaultPartitionedRateLimiter,
  JointOutcome,
  RateLimitLease,
  RateLimitPartition as Partition,
} from '../index.js';
import { FakeClock } from '../testing/index.js';
import { Server } from '../../conformance/joint/remote-limiters.js';

/** Lets go on who waits for it. */
class Gate {
  #open: () => void = () => undefined;
  readonly opened = new Promise<void>((resolve) => void (this.#open = resolve));

  open(): void {
    this.#open();
  }
}

class SlowServer extends Server {
  readonly gate = new Gate();

  override async ask(...question: Parameters<Server['ask']>): Promise<JointOutcome> {
    await this.gate.opened;
    return super.ask(...question);
  }
}

/** Of another maker: knows nothing of chains. */
class SlowForeign extends PartitionedRateLimiter<string> {
  readonly gate = new Gate();
  readonly limiter = new ConcurrencyLimiter({ permitLimit: 1 });

  override getStatistics(): null {
    return null;
  }

  protected override attemptAcquireCore(): RateLimitLease {
    throw new Error('It is waited for.');
  }

  protected override async acquireCore(): Promise<RateLimitLease> {
    await this.gate.opened;
    return this.limiter.attemptAcquire();
  }
}

interface Slow {
  readonly limiter: AsyncPartitionedRateLimiter<string>;
  readonly gate: Gate;
  /** What it has granted and nobody has given back. */
  readonly held: () => number;
}

function slowForeign(): Slow {
  const limiter = new SlowForeign();
  return {
    limiter,
    gate: limiter.gate,
    held: () => 1 - limiter.limiter.getStatistics().currentAvailablePermits,
  };
}

function slowServer(): Slow {
  const server = new SlowServer();
  const held = (): number => (server.log.some((line) => line.startsWith('undone')) ? 0 : 1);
  return { limiter: server.partitioned('remote'), gate: server.gate, held };
}

const clock = new FakeClock();
const IDLE_TIMEOUT_MS = 1_000;

type Making = (key: string, permitLimit?: number) => Partition<string>;

const rows: Making = (key, permitLimit = 1) =>
  RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit }));
const limiters: Making = (key, permitLimit = 1) =>
  RateLimitPartition.get(key, () => new ConcurrencyLimiter({ permitLimit, clock }));
const makings: [string, Making][] = [
  ['rows', rows],
  ['limiters', limiters],
];
const slowOnes: [string, () => Slow][] = [
  ['of another maker', slowForeign],
  ['elsewhere', slowServer],
];
/** Asked before the others it is refused as whoever waits; asked after them it finds an ended limiter, which is an error. */
async function ended(asked: Promise<RateLimitLease>, where: string): Promise<void> {
  if (where === 'of another maker') return expect(asked).rejects.toThrow(ObjectDisposedError);
  expect((await asked).getMetadata(MetadataName.reasonPhrase)).toBe('Limiter disposed');
}
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const free = (limiter: PartitionedRateLimiter<string>, key: string): number =>
  limiter.getStatistics(key)!.currentAvailablePermits;

function partitioned(make: Making, maxPartitions?: number): DefaultPartitionedRateLimiter<string, string> {
  return createPartitionedRateLimiter((key: string) => make(key), {
    clock,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
    maxPartitions,
  });
}

describe.each(makings)('partitions (%s) of a chain whose request', (_kind, make) => {
  describe.each(slowOnes)('waits for a limiter %s', (where, makeSlow) => {
    it('are there when it comes to them, however long that takes, and go afterwards', async () => {
      const slow = makeSlow();
      const members = partitioned(make);
      const inner = createChainedPartitionedRateLimiter(members);
      const chain = createChainedPartitionedRateLimiter(slow.limiter, inner);
      const waiting = [chain.acquire('a'), chain.acquire('a')];
      await settled();
      clock.advance(5 * IDLE_TIMEOUT_MS);
      const other = members.attemptAcquire('b');
      slow.gate.open();

      const lease = await waiting[0]!;
      expect([lease.isAcquired, (await waiting[1]!).isAcquired]).toEqual([true, false]);
      expect(members.attemptAcquire('a').isAcquired).toBe(false);
      other.dispose();
      expect([free(members, 'a'), free(members, 'b')]).toEqual([0, 1]);
      lease.dispose();
      expect([free(members, 'a'), free(members, 'b')]).toEqual([1, 1]);
      clock.advance(5 * IDLE_TIMEOUT_MS);
      expect(members.partitionCount).toBe(0);
    });

    it('are there for the last of several, however long before it the others are answered', async () => {
      const members = partitioned((key) => make(key, 2));
      const [first, last] = [makeSlow(), makeSlow()];
      const [early, late] = [first, last].map(({ limiter }) =>
        createChainedPartitionedRateLimiter(limiter, members).acquire('a'),
      );
      await settled();
      first.gate.open();
      (await early)!.dispose();
      clock.advance(5 * IDLE_TIMEOUT_MS);
      expect(members.partitionCount).toBe(1);
      last.gate.open();
      expect((await late)!.isAcquired).toBe(true);
    });

    it('go at last, too, when those of another member have ended', async () => {
      const [slow, foreign] = [makeSlow(), slowForeign()];
      foreign.gate.open();
      const [members, ended] = [partitioned(limiters), partitioned(make)];
      const inner = createChainedPartitionedRateLimiter(foreign.limiter, members, ended);
      const waiting = createChainedPartitionedRateLimiter(slow.limiter, inner).acquire('a');
      await settled();
      ended.dispose();
      slow.gate.open();
      await expect(waiting).rejects.toThrow(ObjectDisposedError);
      clock.advance(5 * IDLE_TIMEOUT_MS);
      expect(members.partitionCount).toBe(0);
    });

    it('grant nothing once their limiter has ended, and nothing stays taken', async () => {
      const slow = makeSlow();
      const members = partitioned(make);
      const waiting = createChainedPartitionedRateLimiter(slow.limiter, members).acquire('a');
      await settled();
      members.dispose();
      slow.gate.open();
      await ended(waiting, where);
      expect(slow.held()).toBe(0);
    });
  });

  it('is being resolved are an error when another member’s partitioner ends their limiter, and nothing is taken', async () => {
    for (const acquire of [attempt, wait]) {
      const [before, after] = [partitioned(make), partitioned(make)];
      const ended = partitioned(make);
      const ending = createPartitionedRateLimiter((key: string) => {
        ended.dispose();
        return make(key);
      });
      const chain = createChainedPartitionedRateLimiter(before, ended, ending, after);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(acquire(chain)).rejects.toThrow(ObjectDisposedError);
      expect([before, ending, after].map((limiter) => free(limiter, 'a'))).toEqual([1, 1, 1]);
    }
  });
});

async function attempt(limiter: PartitionedRateLimiter<string>): Promise<RateLimitLease> {
  return limiter.attemptAcquire('a');
}

async function wait(limiter: PartitionedRateLimiter<string>): Promise<RateLimitLease> {
  return limiter.acquire('a');
}

describe('a row that goes while the members behind it are resolved', () => {
  /** A chain whose second member has time pass and another request be made before the first is asked. */
  function overtaken(by: string, maxPartitions?: number) {
    const table = partitioned(rows, maxPartitions);
    const overtaking = createPartitionedRateLimiter((key: string) => {
      clock.skip(2 * IDLE_TIMEOUT_MS);
      table.attemptAcquire(by);
      return rows(key);
    });
    return { table, overtaking, chain: createChainedPartitionedRateLimiter(table, overtaking) };
  }

  it('is asked where its key is now', async () => {
    for (const acquire of [attempt, wait]) {
      const { table, overtaking, chain } = overtaken('a');
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await acquire(chain)).isAcquired).toBe(false);
      expect([free(table, 'a'), free(overtaking, 'a')]).toEqual([0, 1]);
    }
  });

  it('leaves no place for its key where another has taken the last one', async () => {
    for (const acquire of [attempt, wait]) {
      const { table, overtaking, chain } = overtaken('b', 1);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const lease = await acquire(chain);
      expect([lease.isAcquired, lease.getMetadata(MetadataName.reasonPhrase)]).toEqual([
        false,
        'Partition limit reached',
      ]);
      expect([table.partitionCount, free(table, 'b'), free(overtaking, 'a')]).toEqual([1, 0, 1]);
    }
  });
});

it('a managed limiter that has ended while a member elsewhere was asked grants nothing', async () => {
  const slow = slowServer();
  const owned: Disposable[] = [];
  const managed = createPartitionedRateLimiter((key: string) =>
    getManagedLifetimeLimiter(
      key,
      () => new ConcurrencyLimiter({ permitLimit: 1 }),
      (limiter) => void owned.push(limiter),
    ),
  );
  const waiting = createChainedPartitionedRateLimiter(slow.limiter, managed).acquire('a');
  await settled();
  owned[0]![Symbol.dispose]();
  slow.gate.open();
  await ended(waiting, 'elsewhere');
  expect(slow.held()).toBe(0);
});
