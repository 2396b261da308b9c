import * as fc from 'fast-check';
import { ChainedPartitions } from './chained-partitions.js';
import { anyMembers } from './chain-trial.js';
import { anyTrace } from './trace.js';

describe('a chain of partitioned limiters', () => {
  it('answers as a chain of the limiters of the partitions, also where one stands in it twice', async () => {
    await fc.assert(
      fc.asyncProperty(anyMembers, fc.boolean(), anyTrace, async (members, isTwice, trace) => {
        const both = new ChainedPartitions(members, isTwice);
        for (const command of trace) {
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          await both.run(command);
          expect(both.partitioned).toEqual(both.ordinary);
        }
      }),
      { numRuns: 100 },
    );
  });
});
