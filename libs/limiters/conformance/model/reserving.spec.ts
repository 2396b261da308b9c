import * as fc from 'fast-check';
import type { ConcurrencyLimiter } from '../../src/index.js';
import { anyBusyTrace } from './chain-trial.js';
import { expectAtMost } from './compared.js';
import { anyReservingMembers, ReservingTrial } from './reserving-trial.js';
import { settle } from './trace.js';

describe('a request that was passed over until it reserves', () => {
  it('holds what it has: nobody else gets it while it waits for the rest', async () => {
    await fc.assert(
      fc.asyncProperty(anyReservingMembers, async (members) => {
        const trial = new ReservingTrial(members);
        const request = await trial.begin();
        expect(request.status).toBe('waiting');
        const [first, second] = trial.members;
        expect(trial.watch.attempt(first!.limiter, 1).status).toBe('refused');
        expect(first!.limiter.getStatistics()!.currentAvailablePermits).toBe(0);
        expect(first!.limiter.idleDurationMs).toBeNull();
        expect(second!.limiter.getStatistics()!.currentQueuedCount).toBe(request.permits);
      }),
      { numRuns: 40 },
    );
  });

  it('comes before everybody who has not been passed over', async () => {
    await fc.assert(
      fc.asyncProperty(anyReservingMembers, async (members) => {
        const trial = new ReservingTrial(members);
        const request = await trial.begin();
        const [, second] = trial.members;
        const later = await trial.watch.acquire(second!.limiter, 1);
        await trial.watch.disposeOne(trial.watch.holding.length - 1);
        expect(request.status).toBe('granted');
        expect(later.status).toBe('waiting');
      }),
      { numRuns: 40 },
    );
  });

  it('gives everything back as if never taken when it is aborted', async () => {
    await fc.assert(
      fc.asyncProperty(anyReservingMembers, fc.nat({ max: 60 }), async (members, waitMs) => {
        const trial = new ReservingTrial(members);
        const request = await trial.begin();
        await trial.watch.advance(waitMs);
        request.abort.abort(new Error('aborted'));
        await settle();
        const [first] = trial.members;
        expect(first!.limiter.getStatistics()!.currentAvailablePermits).toBe(request.permits);
        expect(trial.watch.attempt(first!.limiter, request.permits).status).toBe('granted');
        expect(trial.watch.attempt(first!.limiter, 1).status).toBe('refused');
      }),
      { numRuns: 60 },
    );
  });

  it('brings no member above its limit when that is reset meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(anyReservingMembers, async (members) => {
        const trial = new ReservingTrial(members);
        const request = await trial.begin();
        const [first, second] = trial.members;
        (first!.limiter as ConcurrencyLimiter).reset();
        trial.watch.attempt(first!.limiter, request.permits);
        await trial.watch.disposeOne(
          trial.watch.holding.findIndex(({ limiter }) => limiter === second!.limiter),
        );
        await trial.drain();
        for (const { setup, limiter } of trial.members) {
          expect(limiter.getStatistics()!.currentAvailablePermits).toBeLessThanOrEqual(setup.limit);
        }
        await trial.watch.advance(500);
        for (const { setup, limiter } of trial.members) {
          expect(limiter.getStatistics()!.currentAvailablePermits).toBe(setup.limit);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('breaks no promise of any member, whatever happens around it', async () => {
    await fc.assert(
      fc.asyncProperty(anyReservingMembers, anyBusyTrace, async (members, trace) => {
        const trial = new ReservingTrial(members);
        await trial.begin();
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        for (const command of trace) await trial.run(command);
        await trial.drain();
        expect(trial.brokenPromises).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it('leaves nothing behind: all are served, and everything comes back', async () => {
    await fc.assert(
      fc.asyncProperty(anyReservingMembers, anyBusyTrace, async (members, trace) => {
        const trial = new ReservingTrial(members);
        await trial.begin();
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
        expect(trial.watch.waiting).toEqual([]);
        await trial.watch.advance(500);
        for (const { setup, limiter } of trial.members) {
          expect(limiter.getStatistics()!.currentAvailablePermits).toBe(setup.limit);
        }
      }),
      { numRuns: 50 },
    );
  });
});
