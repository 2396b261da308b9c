import * as fc from 'fast-check';
import { searchLimit } from './limit-search.js';

const HIGHEST = 1_000_000_000;

/** Searches, and counts the passes and the limits that were tried. */
async function search(
  holds: (limit: number) => boolean,
  highest = HIGHEST,
): Promise<{ limit: number | null; passes: number[][] }> {
  const passes: number[][] = [];
  const limit = await searchLimit((limits) => {
    passes.push([...limits]);
    return Promise.resolve(limits.map(holds));
  }, highest);
  return { limit, passes };
}

describe('the search for a limit', () => {
  it('finds the smallest where everything above it holds, in few passes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: HIGHEST }), async (smallest) => {
        const { limit, passes } = await search((one) => one >= smallest);
        expect(limit).toBe(smallest);
        expect(passes.length).toBeLessThanOrEqual(2 + Math.ceil(Math.log(8 * smallest) / Math.log(8)));
      }),
    );
  });

  it('finds one that holds while the one below doesn’t, whatever the others do', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 300 }), async (holding) => {
        const holds = (limit: number): boolean => holding[limit - 1] ?? false;
        const { limit } = await search(holds, holding.length);
        if (limit === null) expect(holds(holding.length)).toBe(false);
        else expect([holds(limit), limit > 1 && holds(limit - 1)]).toEqual([true, false]);
      }),
    );
  });

  it('tries each limit once, in ascending order, and none above the highest', async () => {
    for (const highest of [1, 7, 64, 1_000]) {
      const { limit, passes } = await search(() => false, highest);
      expect(limit).toBeNull();
      const tried = passes.flat();
      expect(tried).toEqual([...new Set(tried)].sort((one, other) => one - other));
      expect(tried.at(-1)).toBe(highest);
    }
  });
});
