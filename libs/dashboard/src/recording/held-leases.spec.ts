import { HeldLeases, LEASES_FOLLOWED } from './held-leases.js';

const leaseOf = (sinceMs: number) => ({ endpoint: 'Jobs.run', holds: [], sinceMs });

describe('HeldLeases', () => {
  it('knows the eldest, also when there are more than it follows', () => {
    const held = new HeldLeases();
    for (let lease = 0; lease < LEASES_FOLLOWED * 3; lease++) held.add(lease, leaseOf(lease));
    held.remove(0);
    held.remove(LEASES_FOLLOWED * 2);
    expect(held.eldest(3).map(({ sinceMs }) => sinceMs)).toEqual([1, 2, 3]);
    for (let lease = 0; lease < LEASES_FOLLOWED; lease++) held.remove(lease);
    expect(held.eldest(3)).toEqual([]);
  });
});
