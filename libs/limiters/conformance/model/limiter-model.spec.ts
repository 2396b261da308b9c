import * as fc from 'fast-check';
import { expectAtMost, expectEqual, expectSame } from './compared.js';
import { anySetup, KINDS } from './limiter-setups.js';
import { SideBySide } from './side-by-side.js';
import { anyTrace } from './trace.js';

/**
 * A bucket is full from a nanosecond on, the model of it to the fraction: tokens take whole nanoseconds here, so that
 * the two are the same.
 */
function wholeTokens(tokensPerPeriod: number): number {
  return [1, 2, 4, 5, 8][tokensPerPeriod % 5]!;
}

describe.each(KINDS)('a limiter of the kind %s', (kind) => {
  it('decides as its naive model does, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(anySetup, anyTrace, async (any, trace) => {
        const both = new SideBySide(kind, { ...any, tokensPerPeriod: wholeTokens(any.tokensPerPeriod) });
        for (const command of trace) {
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          await both.run(command);
          expectEqual(both.actual, both.expected);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('sets one timer at most, and none while nobody waits', async () => {
    await fc.assert(
      fc.asyncProperty(anySetup, anyTrace, async (setup, trace) => {
        const { clock, limiter, run } = bind(new SideBySide(kind, setup));
        for (const command of trace) {
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          await run(command);
          expectAtMost(clock.pendingTimers, 1);
          // A request for no permits waits without being counted, so the sum tells only one way.
          if (kind === 'concurrency') expectSame(clock.pendingTimers, 0);
        }
        limiter.dispose();
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 30 },
    );
  });
});

function bind(both: SideBySide): Pick<SideBySide, 'clock' | 'limiter' | 'run'> {
  return { clock: both.clock, limiter: both.limiter, run: (command) => both.run(command) };
}
