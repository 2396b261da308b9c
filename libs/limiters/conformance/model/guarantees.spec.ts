import * as fc from 'fast-check';
import { expectAtMost, expectSame } from './compared.js';
import { boundOf, brokenPromise } from './guarantees.js';
import { anySetup, createLimiter, KINDS } from './limiter-setups.js';
import type { Command } from './trace.js';
import { anyCommand, settle } from './trace.js';
import { Watch } from './watched-limiters.js';

/** What a clock does besides going on. */
type Disturbance = { readonly do: 'stepBack' | 'block'; readonly ms: number };

const anyDisturbance: fc.Arbitrary<Disturbance> = fc.record({
  do: fc.constantFrom('stepBack', 'block'),
  ms: fc.integer({ min: 1, max: 40 }),
});
const anyRoughTrace = fc.array(
  fc.oneof({ weight: 9, arbitrary: anyCommand }, { weight: 1, arbitrary: anyDisturbance }),
  { minLength: 1, maxLength: 50, size: 'max' },
);

async function run(command: Command | Disturbance, watch: Watch, limiter: Limiter): Promise<void> {
  switch (command.do) {
    case 'advance':
      return watch.advance(command.ms);
    case 'stepBack':
      return watch.advance(-command.ms);
    case 'block':
      return watch.skip(command.ms);
    case 'attempt':
      return void watch.attempt(limiter, Math.min(command.permits, limiter.limit));
    case 'acquire':
      return void (await watch.acquire(limiter, Math.min(command.permits, limiter.limit)));
    case 'abort':
      return watch.abortOne(command.pick);
    case 'disposeLease':
      return watch.disposeOne(command.pick);
  }
}

type Limiter = ReturnType<typeof createLimiter> & { readonly limit: number };

describe.each(KINDS)('a limiter of the kind %s, whatever the clock does', (kind) => {
  it('never grants more than it promises in any span of time', async () => {
    await fc.assert(
      fc.asyncProperty(anySetup, anyRoughTrace, async (any, trace) => {
        // Each token of a greedy bucket takes whole milliseconds, so that grants are noted at their exact time.
        const setup = kind === 'greedyBucket' ? { ...any, tokensPerPeriod: 1 } : any;
        const watch = new Watch();
        const limiter = Object.assign(createLimiter(kind, setup, watch.clock), { limit: setup.limit });
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        for (const command of trace) await run(command, watch, limiter);
        expect(brokenPromise(watch.grants, boundOf(kind, setup))).toBeUndefined();
      }),
      { numRuns: 150 },
    );
  });

  it('keeps what is available between nothing and the limit, and exact where permits are held', async () => {
    await fc.assert(
      fc.asyncProperty(anySetup, anyRoughTrace, async (setup, trace) => {
        const watch = new Watch();
        const limiter = Object.assign(createLimiter(kind, setup, watch.clock), { limit: setup.limit });
        for (const command of trace) {
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          await run(command, watch, limiter);
          const { currentAvailablePermits } = limiter.getStatistics()!;
          expectAtMost(0, currentAvailablePermits);
          expectAtMost(currentAvailablePermits, setup.limit);
          const held = watch.holding.reduce((sum, { permits }) => sum + permits, 0);
          if (kind === 'concurrency') expectSame(currentAvailablePermits, setup.limit - held);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('lets nobody wait while there is enough for the one in turn', async () => {
    await fc.assert(
      fc.asyncProperty(anySetup, anyRoughTrace, async (setup, trace) => {
        const watch = new Watch();
        const limiter = Object.assign(createLimiter(kind, setup, watch.clock), { limit: setup.limit });
        for (const command of trace) {
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          await run(command, watch, limiter);
          const { currentAvailablePermits } = limiter.getStatistics()!;
          // oxlint-disable-next-line no-await-in-loop -- looking serves who is due
          await settle();
          const { waiting } = watch;
          const next = setup.queueProcessingOrder === 'newestFirst' ? waiting.at(-1) : waiting[0];
          if (next !== undefined) expect(Math.max(1, next.permits)).toBeGreaterThan(currentAvailablePermits);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('settles every promise when it ends, and rejects only what was aborted', async () => {
    await fc.assert(
      fc.asyncProperty(anySetup, anyRoughTrace, async (setup, trace) => {
        const watch = new Watch();
        const limiter = Object.assign(createLimiter(kind, setup, watch.clock), { limit: setup.limit });
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        for (const command of trace) await run(command, watch, limiter);
        limiter.dispose();
        await watch.advance(1);
        expect(watch.waiting).toEqual([]);
        for (const { status, abort } of watch.requests) {
          expectSame(status === 'rejected', abort.signal.aborted);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('grants n times one where it grants one times n', async () => {
    const anyCount = fc.integer({ min: 1, max: 8 });
    await fc.assert(
      fc.asyncProperty(anySetup, anyRoughTrace, anyCount, async (setup, trace, count) => {
        const wanted = Math.min(count, setup.limit);
        const outcomes = await Promise.all(
          ['at once', 'one by one'].map(async (how) => {
            const watch = new Watch();
            const limiter = Object.assign(createLimiter(kind, setup, watch.clock), { limit: setup.limit });
            // oxlint-disable-next-line no-await-in-loop -- one after the other
            for (const command of trace) await run(command, watch, limiter);
            if (how === 'at once') return limiter.attemptAcquire(wanted).isAcquired;
            return Array.from({ length: wanted }, () => limiter.attemptAcquire(1).isAcquired).every(Boolean);
          }),
        );
        expect(outcomes[0]).toBe(outcomes[1]);
      }),
      { numRuns: 60 },
    );
  });
});
