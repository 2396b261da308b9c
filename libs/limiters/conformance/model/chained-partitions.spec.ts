import * as fc from 'fast-check';
import { ChainedPartitions } from './chained-partitions.js';
import { anyMembers } from './chain-trial.js';
import { expectEqual } from './compared.js';
import { anyTableSetup, anyTableTrace, OutrightTrial } from './outright-trial.js';
import { anyTrace } from './trace.js';

describe('a chain of partitioned limiters', () => {
  it('answers as a chain of the limiters of the partitions, also where one stands in it twice', async () => {
    await fc.assert(
      fc.asyncProperty(anyMembers, fc.boolean(), anyTrace, async (members, isTwice, trace) => {
        const both = new ChainedPartitions(members, isTwice);
        for (const command of trace) {
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          await both.run(command);
          expectEqual(both.partitioned, both.ordinary);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('a chain of partitions that come and go, whose limits change, and whose clocks step', () => {
  it('answers on their rows as it does by the protocol of chains', async () => {
    await fc.assert(
      fc.asyncProperty(anyMembers, anyTableSetup, anyTableTrace, async (members, setup, trace) => {
        const trial = new OutrightTrial(members, setup);
        for (const command of trace) {
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          await trial.run(command);
          expectEqual(trial.outright, trial.byProtocol);
        }
      }),
      { numRuns: 100 },
    );
  });
});
