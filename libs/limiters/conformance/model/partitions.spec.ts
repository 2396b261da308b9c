import * as fc from 'fast-check';
import { expectEqual } from './compared.js';
import { boundOf, brokenPromise } from './guarantees.js';
import type { Kind } from './limiter-setups.js';
import { anySetup, KINDS } from './limiter-setups.js';
import { anyPartitionTrace, HOSTILE_KEYS, PartitionTrial } from './partition-trial.js';

const MADE_BY = ['helper', 'get'] as const;
/** The kinds whose state knows no boundaries, so that a limiter made anew is the same as an idle one. */
const WITHOUT_BOUNDARIES: readonly Kind[] = ['concurrency', 'greedyBucket'];

describe.each(MADE_BY)('partitions made by %s', (by) => {
  it.each(WITHOUT_BOUNDARIES)(
    'of the kind %s answer as limiters that are never thrown away: no debt is forgiven, no lease lost',
    async (kind) => {
      await fc.assert(
        fc.asyncProperty(anySetup, anyPartitionTrace, async (setup, trace) => {
          const trial = new PartitionTrial(kind, setup, by);
          for (const command of trace) {
            // oxlint-disable-next-line no-await-in-loop -- one after the other
            await trial.run(command);
            const actual = trial.watch.requests.map(({ status }) => status);
            expectEqual(
              actual,
              trial.twins.requests.map(({ status }) => status),
            );
          }
        }),
        { numRuns: 25 },
      );
    },
  );

  it.each(KINDS)('of the kind %s grant no key more than a limiter promises', async (kind) => {
    await fc.assert(
      fc.asyncProperty(anySetup, anyPartitionTrace, async (any, trace) => {
        const setup = kind === 'greedyBucket' ? { ...any, tokensPerPeriod: 1 } : any;
        const trial = new PartitionTrial(kind, setup, by);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        for (const command of trace) await trial.run(command);
        for (const index of HOSTILE_KEYS.keys()) {
          const { key } = trial.limiters(index);
          const grants = trial.watch.grants.filter(({ request }) => request.limiter === key);
          expect(brokenPromise(grants, boundOf(kind, setup))).toBeUndefined();
        }
      }),
      { numRuns: 12 },
    );
  });

  it.each(KINDS)(
    'of the kind %s serve everybody and leave in the end, and their timer with them',
    async (kind) => {
      await fc.assert(
        fc.asyncProperty(anySetup, anyPartitionTrace, async (setup, trace) => {
          const trial = new PartitionTrial(kind, setup, by);
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          for (const command of trace) await trial.run(command);
          await trial.drain();
          expect(trial.watch.waiting).toEqual([]);
          // The longest that a limiter needs to be as new, the idle timeout, and the grace of the sweep.
          await trial.watch.advance(300 + 50 + 300);
          expect(trial.partitions.partitionCount).toBe(0);
          for (const { lease } of trial.twins.requests) lease?.dispose();
          await trial.watch.advance(300);
          expect(trial.watch.clock.pendingTimers).toBe(0);
        }),
        { numRuns: 15 },
      );
    },
  );

  it('settle every promise when the partitioned limiter ends', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...KINDS), anySetup, anyPartitionTrace, async (kind, setup, trace) => {
        const trial = new PartitionTrial(kind, setup, by);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        for (const command of trace) await trial.run(command);
        trial.partitions.dispose();
        await trial.watch.advance(1);
        expect(trial.watch.waiting).toEqual([]);
        expect(trial.partitions.partitionCount).toBe(0);
      }),
      { numRuns: 12 },
    );
  });
});
