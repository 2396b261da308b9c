import * as fc from 'fast-check';
import type { Life, LifeSetup } from './life.js';
import { anyLife, anyLifeSetup, LifeTrial } from './life.js';

async function live(setup: LifeSetup, life: Life): Promise<void> {
  const trial = new LifeTrial(setup);
  for (const event of life) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await trial.run(event);
    trial.expectAtMostTheLimit();
  }
  await trial.endEverything();
  trial.expectEverythingBack();
  expect(await trial.waitForEver()).toEqual([]);
}

describe.each(['alone', 'in a chain', 'both'] as const)('sessions whose requests come %s', (how) => {
  it('hold at most what the group may at every instant, and give everything back', async () => {
    await fc.assert(
      fc.asyncProperty(anyLifeSetup, anyLife, async (setup, life) => live({ ...setup, how }, life)),
      { numRuns: 300 },
    );
  });
});
