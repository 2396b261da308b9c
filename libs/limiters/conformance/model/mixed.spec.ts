import * as fc from 'fast-check';
import type { MixedEvent, MixedSetup } from './mixed-events.js';
import { anyMixedSetup, anyMixedTrace } from './mixed-events.js';
import { MixedTrial } from './mixed-trial.js';

async function runAll(setup: MixedSetup, trace: readonly MixedEvent[]): Promise<MixedTrial> {
  const trial = new MixedTrial(setup);
  for (const event of trace) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await trial.run(event);
    trial.expectNothingUnexpected();
  }
  return trial;
}

describe('chains of partitioned, linked, nested and foreign limiters whose options change and whose chains end', () => {
  it('lose no permit and no request, also where stores do all that in the midst of it', async () => {
    await fc.assert(
      fc.asyncProperty(anyMixedSetup, anyMixedTrace, async (setup, trace) => {
        const trial = await runAll(setup, trace);
        await trial.expectPeace();
      }),
      { numRuns: 30 },
    );
  });
});
