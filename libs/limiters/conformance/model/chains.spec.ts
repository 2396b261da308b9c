import * as fc from 'fast-check';
import {
  anyBusyTrace,
  anyChainTrace,
  anyMembers as anyOrdinaryMembers,
  anyScarceMembers,
  ChainTrial,
} from './chain-trial.js';
import { expectAtMost } from './compared.js';
import { settle } from './trace.js';
import type { ChainCommand } from './chain-trial.js';

async function runAll(trial: ChainTrial, trace: readonly ChainCommand[]): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (const command of trace) await trial.run(command);
}

describe.each([
  { load: 'now and then', anyMembers: anyOrdinaryMembers, anyTrace: anyChainTrace },
  { load: 'more than there is', anyMembers: anyScarceMembers, anyTrace: anyBusyTrace },
])('two chains in opposite orders and their members, asked for $load', ({ anyMembers, anyTrace }) => {
  it('grant no more of any member than it promises', async () => {
    await fc.assert(
      fc.asyncProperty(anyMembers, anyTrace, async (members, trace) => {
        const trial = new ChainTrial(members);
        await runAll(trial, trace);
        expect(trial.brokenPromises).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('never hold more than the limit, and lose nothing', async () => {
    await fc.assert(
      fc.asyncProperty(anyMembers, anyTrace, async (members, trace) => {
        const trial = new ChainTrial(members);
        for (const command of trace) {
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          await trial.run(command);
          for (const { kind, setup, limiter } of trial.members) {
            const { currentAvailablePermits } = limiter.getStatistics()!;
            const held = kind === 'concurrency' ? trial.heldOf(limiter) : 0;
            expectAtMost(currentAvailablePermits + held, setup.limit);
          }
        }
        await trial.drain();
        await trial.watch.advance(500);
        for (const { setup, limiter } of trial.members) {
          expect(limiter.getStatistics()!.currentAvailablePermits).toBe(setup.limit);
          expect(limiter.idleDurationMs).not.toBeNull();
        }
      }),
      { numRuns: 60 },
    );
  });

  it('never wait for each other: all are served once work ends and time passes', async () => {
    await fc.assert(
      fc.asyncProperty(anyMembers, anyTrace, async (members, trace) => {
        const trial = new ChainTrial(members);
        await runAll(trial, trace);
        await trial.drain();
        expect(trial.watch.waiting).toEqual([]);
        expect(trial.watch.clock.pendingTimers).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it('charge all members for a grant, and none for a refusal but the one that refused', async () => {
    await fc.assert(
      fc.asyncProperty(anyMembers, anyTrace, async (members, trace) => {
        const trial = new ChainTrial(members);
        await runAll(trial, trace);
        await trial.drain();
        const { requests } = trial.watch;
        for (const { limiter } of trial.members) {
          const granted = requests.filter(
            (request) => request.lease?.isAcquired === true && trial.concerns(request, limiter),
          );
          expect(limiter.getStatistics()!.totalSuccessfulLeases).toBe(granted.length);
        }
        const failed = trial.members.map(({ limiter }) => limiter.getStatistics()!.totalFailedLeases);
        const refused = requests.filter(({ status }) => status === 'refused');
        expect(failed.reduce((sum, count) => sum + count, 0)).toBe(refused.length);
      }),
      { numRuns: 60 },
    );
  });

  it('settle all their waiters when they end, and leave those of the members', async () => {
    await fc.assert(
      fc.asyncProperty(anyMembers, anyTrace, async (members, trace) => {
        const trial = new ChainTrial(members);
        await runAll(trial, trace);
        for (const chain of trial.chains) chain.dispose();
        await settle();
        const { waiting } = trial.watch;
        expect(waiting.filter(({ limiter }) => trial.chains.includes(limiter))).toEqual([]);
        await trial.drain();
        expect(trial.watch.waiting).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
