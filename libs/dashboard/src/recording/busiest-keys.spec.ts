import * as fc from 'fast-check';
import { BusiestKeys, KEYS_COUNTED } from './busiest-keys.js';
import { GENERATION_SECONDS, RecentKeys } from './recent-keys.js';

const anyKeys = fc.array(
  fc.integer({ min: 0, max: 120 }).map((key) => `key ${Math.floor(key ** 2 / 120)}`),
  {
    maxLength: 2_000,
  },
);

describe('BusiestKeys', () => {
  it('never counts more than 50 keys, and bounds what it says of each', () => {
    fc.assert(
      fc.property(anyKeys, (keys) => {
        const busiest = new BusiestKeys();
        const counts = new Map<string, number>();
        for (const key of keys) {
          busiest.count(key, false);
          counts.set(key, (counts.get(key) ?? 0) + 1);
        }
        const counted = [...busiest.keys];
        expect(counted.length).toBeLessThanOrEqual(KEYS_COUNTED);
        for (const { key, requests, overestimate } of counted) {
          expect(requests).toBeGreaterThanOrEqual(counts.get(key)!);
          expect(requests - overestimate).toBeLessThanOrEqual(counts.get(key)!);
        }
        const known = new Set(counted.map(({ key }) => key));
        for (const [key, count] of counts) {
          if (count > keys.length / KEYS_COUNTED) expect(known).toContain(key);
        }
      }),
    );
  });

  it('finds the busy one among a hundred thousand strangers', () => {
    const busiest = new BusiestKeys();
    for (let stranger = 0; stranger < 100_000; stranger++) {
      busiest.count(`stranger ${stranger}`, false);
      if (stranger % 10 === 0) busiest.count('busy', true);
    }
    const [first] = [...busiest.keys].sort((one, other) => other.requests - one.requests);
    expect(first).toMatchObject({ key: 'busy' });
    expect(first!.requests - first!.overestimate).toBeLessThanOrEqual(10_000);
  });
});

describe('RecentKeys', () => {
  it('forgets after two generations, and adds up what it remembers', () => {
    const recent = new RecentKeys();
    recent.count(0, 'early', false);
    recent.count(GENERATION_SECONDS, 'late', true);
    recent.count(GENERATION_SECONDS, 'early', true);
    expect(recent.top(GENERATION_SECONDS, 5)).toEqual([
      { key: 'early', requests: 2, overestimate: 0, refused: 1 },
      { key: 'late', requests: 1, overestimate: 0, refused: 1 },
    ]);
    expect(recent.top(2 * GENERATION_SECONDS, 5).map(({ requests }) => requests)).toEqual([1, 1]);
    expect(recent.top(3 * GENERATION_SECONDS, 5)).toEqual([]);
  });
});
