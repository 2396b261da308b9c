import { Linked, Owner } from '../../conformance/linked/only-owner.js';
import type { PartitionedRateLimiter, RateLimitLease } from '../index.js';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  LinkedLeaseRateLimiter,
  RateLimitPartition,
} from '../index.js';

const concurrency = (permitLimit: number): PartitionedRateLimiter<string> =>
  createPartitionedRateLimiter((key: string) =>
    RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit, queueLimit: 10 })),
  );

const freeOf = (limiter: PartitionedRateLimiter<string>): number =>
  limiter.getStatistics('all')!.currentAvailablePermits;

/** Whether a request is granted, where it may be refused or fail. */
function isGranted(ask: () => RateLimitLease): boolean {
  try {
    return ask().isAcquired;
  } catch {
    return false;
  }
}

/** An owner whose store fails once: at so many answers from now. */
class FailingOwner extends Owner {
  failsIn = Infinity;
  hasFailed = false;

  protected override tryGetLease(): RateLimitLease | undefined {
    if (--this.failsIn < 0 && !this.hasFailed) {
      this.hasFailed = true;
      throw new Error('boom');
    }
    return super.tryGetLease();
  }
}

class LinkedToFailing extends LinkedLeaseRateLimiter<string> {
  readonly owner = new FailingOwner();

  protected override getLeaseStore(): FailingOwner {
    return this.owner;
  }
}

/**
 * A request of a chain of two that are linked to the same permits, these twice more, and a gate. It has been passed over
 * three times: at its next turn it takes all four permits in one, and waits for the gate with them.
 */
class AboutToReserve {
  readonly base = concurrency(4);
  readonly gate = concurrency(1);
  readonly failing = new LinkedToFailing(this.base);
  readonly other = new Linked(this.base);
  readonly controller = new AbortController();
  readonly answer: Promise<RateLimitLease | Error>;
  #held: RateLimitLease;

  constructor() {
    this.#held = this.gate.attemptAcquire('all');
    const { base, failing, other, gate, controller } = this;
    this.answer = createChainedPartitionedRateLimiter(failing, other, base, base, gate)
      .acquire('all', 1, controller)
      .catch((error: Error) => error);
    for (let turn = 0; turn < 3; turn++) this.takeTurn(turn % 2 === 0 ? base : gate);
  }

  /** Lets the request have its turn where it waits, while the other limiter has too little for it. */
  takeTurn(other: PartitionedRateLimiter<string>): void {
    const held = other.attemptAcquire('all');
    this.end();
    this.#held = held;
  }

  /** Gives back what is held against the request. */
  end(): void {
    this.#held.dispose();
  }
}

describe('a store that fails to answer once', () => {
  it.each(['linked alone', 'linked, then its reference limiter', 'the reference limiter, then linked'])(
    'never lets a chain take more than there is: %s',
    (members) => {
      for (let nth = 0; nth < 6; nth++) {
        const base = concurrency(2);
        const linked = new LinkedToFailing(base);
        const chain = {
          'linked alone': [linked],
          'linked, then its reference limiter': [linked, base],
          'the reference limiter, then linked': [base, linked],
        }[members]!;
        const all = createChainedPartitionedRateLimiter(...chain, concurrency(9));
        base.attemptAcquire('all', members === 'linked alone' ? 2 : 1);
        linked.owner.failsIn = nth;
        expect(isGranted(() => all.attemptAcquire('all'))).toBe(false);
        expect(base.getStatistics('all')!.totalSuccessfulLeases).toBe(1);
      }
    },
  );
});

describe('a store that fails to answer a chain that another member refuses', () => {
  it.each([0, 1, 2, 3, 4, 5])('fails nobody who asks later (answer %i)', (nth) => {
    for (const next of ['alone', 'in a chain'] as const) {
      const [base, gate] = [concurrency(2), concurrency(1)];
      const linked = new LinkedToFailing(base);
      const chain = createChainedPartitionedRateLimiter(linked, gate);
      const held = gate.attemptAcquire('all');
      linked.owner.failsIn = nth;
      expect(isGranted(() => chain.attemptAcquire('all'))).toBe(false);
      held.dispose();
      linked.owner.hasFailed = true;
      expect((next === 'alone' ? linked : chain).attemptAcquire('all').isAcquired).toBe(true);
      expect(freeOf(base)).toBe(1);
    }
  });
});

describe('a store that fails in the midst of a reservation', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    'fails that request alone, and keeps no permit (answer %i)',
    async (nth) => {
      const trial = new AboutToReserve();
      const { base, gate, failing, other } = trial;
      failing.owner.failsIn = nth;
      trial.takeTurn(gate);
      const behind = base.acquire('all', 4);
      trial.end();
      const answer = await trial.answer;
      expect(answer instanceof Error ? answer.message : answer.isAcquired).toBe(
        failing.owner.hasFailed ? 'boom' : true,
      );
      if (!(answer instanceof Error)) answer.dispose();
      failing.owner.dispose();
      other.owner.dispose();
      (await behind).dispose();
      expect([freeOf(base), freeOf(gate)]).toEqual([4, 1]);
      expect(base.getStatistics('all')!.currentQueuedCount).toBe(0);
    },
  );
});

describe('a reservation of all that take from the same permits', () => {
  it('is of what they need, until the request is aborted', async () => {
    const trial = new AboutToReserve();
    const { base, gate } = trial;
    trial.takeTurn(gate);
    expect(freeOf(base)).toBe(0);
    trial.controller.abort(new Error('gone'));
    expect(await trial.answer).toMatchObject({ message: 'gone' });
    expect(freeOf(base)).toBe(4);
  });

  it('needs one permit less for each that gets its lease meanwhile', async () => {
    const trial = new AboutToReserve();
    const { base, gate, other } = trial;
    const alone = other.acquire('all');
    trial.takeTurn(gate);
    trial.end();
    const lease = (await trial.answer) as RateLimitLease;
    expect([lease.isAcquired, (await alone).isAcquired]).toEqual([true, true]);
    expect(freeOf(base)).toBe(0);
    lease.dispose();
    expect(freeOf(base)).toBe(2);
  });
});
