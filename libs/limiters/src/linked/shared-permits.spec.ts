import type { PartitionedRateLimiter, RateLimitLease } from '../index.js';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  RateLimitPartition,
  refusedMember,
} from '../index.js';
import { Linked } from '../../conformance/linked/only-owner.js';
import { FakeClock } from '../testing/index.js';

/** A limiter of what runs at once, whose options can be changed, and two that are linked to it. */
function linkedToOne(permitLimit: number, queueLimit = 10) {
  const options = { permitLimit };
  const clock = new FakeClock();
  const base = createPartitionedRateLimiter(
    (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ ...options, queueLimit, clock })),
    { clock },
  );
  const take = (count: number): RateLimitLease[] =>
    Array.from({ length: count }, () => base.attemptAcquire('all'));
  return { options, clock, base, take, ann: new Linked(base), bob: new Linked(base) };
}

const chain = (...members: PartitionedRateLimiter<string>[]) =>
  createChainedPartitionedRateLimiter(...members);
const reasonOf = async (asked: Promise<RateLimitLease>): Promise<unknown> =>
  (await asked).getMetadata('REASON_PHRASE');

/** A limiter of one at a time, for every key. */
function oneAtATime(clock: FakeClock) {
  const options = () => ({ permitLimit: 1, queueLimit: 5, clock });
  return createPartitionedRateLimiter(
    (key: string) => RateLimitPartition.getConcurrencyLimiter(key, options),
    { clock },
  );
}

describe('a chain of several that take from the same permits', () => {
  it('says how many can be asked for: what the linked ones need is set aside for them', () => {
    const { base, ann, bob } = linkedToOne(7);
    const most = (...members: PartitionedRateLimiter<string>[]) => chain(...members);
    expect(() => most(ann, base).attemptAcquire('all', 7)).toThrow('at most the limit of 6, but got 7');
    expect(() => most(ann, bob, base, base).attemptAcquire('all', 3)).toThrow(
      'at most the limit of 2, but got 3',
    );
    expect(most(ann, bob, base, base).attemptAcquire('all', 2).isAcquired).toBe(true);
    expect(base.getStatistics('all')!.currentAvailablePermits).toBe(1);
  });

  it('sets no bound where all of them are linked', () => {
    const { base, ann, bob } = linkedToOne(2);
    expect(chain(ann, bob).attemptAcquire('all', 1_000).isAcquired).toBe(true);
    expect(base.getStatistics('all')!.currentAvailablePermits).toBe(0);
  });

  it('can’t even be asked for nothing where there are too few for the linked ones', () => {
    const { ann, bob } = linkedToOne(1);
    expect(() => chain(ann, bob).attemptAcquire('all', 0)).toThrow(RangeError);
  });

  it('takes all that it needs, or nothing', () => {
    const { base, ann, take } = linkedToOne(3);
    const [held] = take(1);
    const all = chain(ann, base, base);
    expect(all.attemptAcquire('all').isAcquired).toBe(false);
    expect(ann.owner.hasRefused).toBe(false);
    expect(base.getStatistics('all')!.currentAvailablePermits).toBe(2);
    held!.dispose();
    expect(all.attemptAcquire('all').isAcquired).toBe(true);
    expect(base.getStatistics('all')!.currentAvailablePermits).toBe(0);
  });

  it('is refused by the first that needs what isn’t there, not by one that has its lease', () => {
    const { ann, bob } = linkedToOne(1);
    ann.attemptAcquire('all');
    expect(refusedMember(chain(ann, bob).attemptAcquire('all'))).toBe(1);
    expect([ann.owner.hasRefused, bob.owner.hasRefused]).toEqual([false, true]);
  });

  it('needs nothing once all of them have their leases', async () => {
    const { base, ann, bob, take } = linkedToOne(2);
    const held = take(2);
    const alone = [ann.acquire('all'), bob.acquire('all')];
    const both = chain(ann, bob).acquire('all');
    for (const lease of held) lease.dispose();
    await Promise.all(alone);
    // Nothing is free.
    expect(base.getStatistics('all')).toMatchObject({ currentAvailablePermits: 0, currentQueuedCount: 0 });
    expect((await both).isAcquired).toBe(true);
    expect(chain(ann, bob).attemptAcquire('all').isAcquired).toBe(true);
  });

  it('needs nothing for one that has its lease, where the linked one that it stands over has lost its own', async () => {
    const { base, ann, clock } = linkedToOne(2);
    const over = new Linked(ann);
    const gate = oneAtATime(clock);
    const held = gate.attemptAcquire('all');
    const waiting = chain(gate, over, base).acquire('all');
    expect(over.attemptAcquire('all').isAcquired).toBe(true);
    jest
      .spyOn(ann.owner as unknown as { tryGetLease(): undefined }, 'tryGetLease')
      .mockReturnValue(undefined);
    held.dispose();
    expect(base.getStatistics('all')).toMatchObject({ currentAvailablePermits: 0, currentQueuedCount: 0 });
    expect((await waiting).isAcquired).toBe(true);
  });

  it('needs nothing at its turn elsewhere once all of them have their leases', async () => {
    const { base, ann, bob, clock } = linkedToOne(2);
    const gate = oneAtATime(clock);
    const held = gate.attemptAcquire('all');
    const waiting = chain(gate, ann, bob).acquire('all');
    for (const linked of [ann, bob]) expect(linked.attemptAcquire('all').isAcquired).toBe(true);
    expect(base.getStatistics('all')!.currentAvailablePermits).toBe(0);
    held.dispose();
    expect((await waiting).isAcquired).toBe(true);
  });

  it('needs at its turn elsewhere what those need that have no lease yet', async () => {
    const { base, ann, bob, clock, take } = linkedToOne(2);
    const gate = oneAtATime(clock);
    const held = gate.attemptAcquire('all');
    const waiting = chain(gate, ann, bob).acquire('all');
    ann.attemptAcquire('all');
    const [other] = take(1);
    held.dispose();
    expect(bob.owner.hasLease).toBe(false);
    expect(base.getStatistics('all')).toMatchObject({ currentAvailablePermits: 0, currentQueuedCount: 1 });
    other!.dispose();
    expect((await waiting).isAcquired).toBe(true);
    expect(base.getStatistics('all')!.currentAvailablePermits).toBe(0);
  });

  it('sets nothing aside as long as there isn’t enough for all of them', async () => {
    const { base, ann, take, clock } = linkedToOne(3);
    const gate = oneAtATime(clock);
    let held = take(1)[0]!;
    const waiting = chain(ann, base, base, gate).acquire('all');
    for (let passed = 0; passed < 4; passed++) {
      const other = (passed % 2 === 0 ? gate : base).attemptAcquire('all');
      held.dispose();
      held = other;
    }
    expect(base.getStatistics('all')!.currentAvailablePermits).toBe(2);
    held.dispose();
    expect((await waiting).isAcquired).toBe(true);
    expect(base.getStatistics('all')!.currentAvailablePermits).toBe(0);
  });

  it.each([true, false])(
    'nor for those that have no lease yet (one of them has: %s)',
    async (isOneStored) => {
      const { base, ann, bob, take, clock } = linkedToOne(2);
      const gate = oneAtATime(clock);
      let held = take(1)[0]!;
      const waiting = chain(ann, bob, gate).acquire('all');
      for (let passed = 0; passed < 4; passed++) {
        if (passed === 3 && isOneStored) ann.attemptAcquire('all');
        const other = (passed % 2 === 0 ? gate : base).attemptAcquire('all');
        held.dispose();
        held = other;
      }
      expect(base.getStatistics('all')!.currentAvailablePermits).toBe(isOneStored ? 0 : 1);
      expect(bob.owner.hasLease).toBe(false);
      held.dispose();
      expect((await waiting).isAcquired).toBe(true);
      expect(base.getStatistics('all')!.currentAvailablePermits).toBe(0);
    },
  );

  it('goes on by reserving with what it still needs, which may be nothing', async () => {
    const { ann, bob, take, clock } = linkedToOne(2);
    const gate = oneAtATime(clock);
    let atGate = gate.attemptAcquire('all');
    const waiting = chain(ann, bob, gate).acquire('all');
    const [one] = take(1);
    atGate.dispose();
    atGate = gate.attemptAcquire('all');
    one!.dispose();
    const both = take(2);
    const alone = [ann.acquire('all'), bob.acquire('all')];
    atGate.dispose();
    atGate = gate.attemptAcquire('all');
    for (const lease of both) lease.dispose();
    await Promise.all(alone);
    atGate.dispose();
    expect((await waiting).isAcquired).toBe(true);
    expect(gate.getStatistics('all')!.currentAvailablePermits).toBe(0);
  });

  it('tells each of the linked ones of a request that can’t wait', async () => {
    const { ann, bob, take } = linkedToOne(2, 1);
    take(2);
    expect(await reasonOf(chain(ann, bob).acquire('all'))).toBe('Queue limit reached');
    expect([ann.owner.hasRefused, bob.owner.hasRefused]).toEqual([true, true]);
  });

  it('tells nobody of one that waits, and each of the linked ones of its end', async () => {
    const { clock, ann, bob, take } = linkedToOne(2);
    take(2);
    const waiting = chain(ann, bob).acquire('all', 1, { maxWaitMs: 100 });
    expect([ann.owner.hasRefused, bob.owner.hasRefused]).toEqual([false, false]);
    clock.advance(100);
    expect(await reasonOf(waiting)).toBe('Wait limit reached');
    expect([ann.owner.hasRefused, bob.owner.hasRefused]).toEqual([true, true]);
  });

  it('is refused where a lower limit leaves too few for all of them', async () => {
    const { options, base, ann, clock } = linkedToOne(2);
    const gate = oneAtATime(clock);
    const held = gate.attemptAcquire('all');
    const waiting = chain(gate, ann, base).acquire('all');
    options.permitLimit = 1;
    base.refreshOptions();
    base.attemptAcquire('all').dispose();
    held.dispose();
    expect(await reasonOf(waiting)).toBe('Limit lowered');
    expect(gate.getStatistics('all')!.currentAvailablePermits).toBe(1);
  });

  it.each([true, false])(
    'sets all of them aside at once, and gives all back where it is aborted (%s)',
    async (isAborted) => {
      const { base, ann, clock } = linkedToOne(3);
      const gate = oneAtATime(clock);
      const gone = new AbortController();
      let held = gate.attemptAcquire('all');
      const waiting = chain(ann, base, base, gate)
        .acquire('all', 1, { signal: gone.signal })
        .catch((reason: unknown) => reason);
      // Each time that it is its turn the other one refuses; then it reserves, and waits for the gate.
      for (let passed = 0; passed < 4; passed++) {
        const other = (passed % 2 === 0 ? base : gate).attemptAcquire('all');
        held.dispose();
        held = other;
      }
      expect(held.isAcquired).toBe(true);
      expect(base.getStatistics('all')!.currentAvailablePermits).toBe(0);
      expect(ann.owner.hasLease).toBe(false);
      if (isAborted) gone.abort('gone');
      held.dispose();
      const answer = await waiting;
      expect(isAborted ? answer : (answer as RateLimitLease).isAcquired).toBe(isAborted ? 'gone' : true);
      expect(base.getStatistics('all')!.currentAvailablePermits).toBe(isAborted ? 3 : 0);
      expect(ann.owner.hasLease).toBe(!isAborted);
    },
  );
});
