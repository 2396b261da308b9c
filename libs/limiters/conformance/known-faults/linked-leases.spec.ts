import { freeAndQueued, perGroup, Session, visit, VisitLimiter } from '../linked/visits.js';

describe('a stampede of the first requests of a shared object', () => {
  it('is none: twenty take one permit together, and all pass', async () => {
    const base = perGroup(1);
    const limiter = new VisitLimiter(base);
    const session = new Session();
    const leases = await Promise.all(Array.from({ length: 20 }, () => limiter.acquire(visit(session))));
    expect(leases.every(({ isAcquired }) => isAcquired)).toBe(true);
    expect(freeAndQueued(base)).toEqual([0, 0]);
    expect(base.getStatistics(visit(session))).toMatchObject({ totalSuccessfulLeases: 1 });
  });
});

describe('a refusal that sticks', () => {
  it('does not: twenty are refused, nothing is left of them, and the next passes once there is room', async () => {
    const base = perGroup(1);
    const limiter = new VisitLimiter(base);
    const other = limiter.attemptAcquire(visit(null));
    const session = new Session();
    const refused = await Promise.all(Array.from({ length: 20 }, () => limiter.acquire(visit(session))));
    expect(refused.some(({ isAcquired }) => isAcquired)).toBe(false);
    expect(freeAndQueued(base)).toEqual([0, 0]);
    other.dispose();
    expect((await limiter.acquire(visit(session))).isAcquired).toBe(true);
  });
});

describe('an old handle that is used after the permit went to another', () => {
  it('releases nothing of it, however often', async () => {
    const base = perGroup(1);
    const limiter = new VisitLimiter(base);
    const [before, after] = [new Session(), new Session()];
    const late = await limiter.acquire(visit(before));
    before.dispose();
    expect((await limiter.acquire(visit(after))).isAcquired).toBe(true);
    for (let time = 0; time < 3; time++) late.dispose();
    expect(freeAndQueued(base)).toEqual([0, 0]);
    expect((await limiter.acquire(visit(new Session()))).isAcquired).toBe(false);
  });

  it('learns that its object has ended when it asks again', async () => {
    const limiter = new VisitLimiter(perGroup(1));
    const session = new Session();
    (await limiter.acquire(visit(session))).dispose();
    session.dispose();
    await expect(limiter.acquire(visit(session))).rejects.toMatchObject({ code: 'ERR_RL_OBJECT_DISPOSED' });
  });
});
