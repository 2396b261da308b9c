import * as fc from 'fast-check';
import type { SimulatedPolicy } from '../policies/policy-options.js';
import { simulate } from '../simulate.js';
import type { SimulatedOutcome, SimulationOptions } from '../simulation-options.js';
import type { TraceEntry } from '../trace/trace-entry.js';
import type { PolicyReport } from './simulation-report.js';

async function one(
  policy: SimulatedPolicy,
  entries: readonly TraceEntry[],
  options?: SimulationOptions,
): Promise<PolicyReport> {
  const { policies } = await simulate(policy, entries, options);
  return policies[0]!;
}

describe('what a simulation reports', () => {
  const times = fc.array(fc.nat(5_000_000), { minLength: 1, maxLength: 200 });

  it('adds up: every request is granted at once, later, or refused', async () => {
    await fc.assert(
      fc.asyncProperty(
        times,
        fc.nat(5),
        fc.integer({ min: 1, max: 4 }),
        async (all, queueLimit, permitLimit) => {
          const entries = [...all]
            .sort((left, right) => left - right)
            .map((timeMs) => ({ timeMs, ip: `ip${timeMs % 3}` }));
          const outcomes: SimulatedOutcome[] = [];
          const { policies, entries: count } = await simulate(
            {
              rate: { algorithm: 'fixedWindow', permitLimit, windowMs: 100_000, queueLimit, key: 'ip' },
              work: { algorithm: 'concurrency', permitLimit, queueLimit },
            },
            entries,
            {
              durationMs: 60_000,
              maxWaitMs: 90_000,
              topKeys: 100,
              onOutcome: (outcome) => outcomes.push(outcome),
            },
          );
          expect(count).toBe(entries.length);
          expect(outcomes).toHaveLength(2 * entries.length);
          for (const policy of policies) {
            const sum = (
              rows: readonly Pick<PolicyReport, 'grantedAtOnce' | 'grantedAfterWait' | 'refused'>[],
            ): number =>
              rows.reduce((total, row) => total + row.grantedAtOnce + row.grantedAfterWait + row.refused, 0);
            expect(policy.requests).toBe(entries.length);
            expect(sum([policy])).toBe(entries.length);
            expect(sum(policy.timeline.steps)).toBe(entries.length);
            expect(policy.timeline.steps.length).toBeLessThanOrEqual(240);
            expect(policy.topRefused.reduce((total, { refused }) => total + refused, 0)).toBe(policy.refused);
            const waited = outcomes.filter(
              (one) => one.policy === policy.name && one.waitedMs > 0 && one.outcome === 'granted',
            );
            expect(waited).toHaveLength(policy.grantedAfterWait);
            expect(Math.max(0, ...waited.map(({ waitedMs }) => waitedMs))).toBe(policy.waits?.maxMs ?? 0);
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('has steps without gaps that begin at round times', async () => {
    const report = await one(
      { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 1_000 },
      [500, 3_600_000, 3_600_000, 7_200_000].map((timeMs) => ({ timeMs })),
    );
    const { stepMs, steps } = report.timeline;
    expect(stepMs).toBe(60_000);
    expect(steps.map(({ startMs }) => startMs)).toEqual(
      Array.from({ length: 121 }, (_, index) => index * 60_000),
    );
    expect([steps[60]!.grantedAtOnce, steps[60]!.refused]).toEqual([1, 1]);
  });

  it('has the steps that are asked for', async () => {
    const report = await one(
      { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 1_000 },
      [{ timeMs: 0 }, { timeMs: 990 }],
      {
        stepMs: 250,
      },
    );
    expect(report.timeline.steps.map(({ startMs, refused }) => [startMs, refused])).toEqual([
      [0, 0],
      [250, 0],
      [500, 0],
      [750, 1],
    ]);
  });

  it('keeps waits within 1 % where there are too many to keep them apart', async () => {
    const entries = Array.from({ length: 12_000 }, (_, index) => ({ timeMs: index * 10, durationMs: 11 }));
    const exact: number[] = [];
    const report = await one({ algorithm: 'concurrency', permitLimit: 1, queueLimit: 100_000 }, entries, {
      onOutcome: ({ waitedMs }) => void (waitedMs > 0 && exact.push(waitedMs)),
    });
    exact.sort((left, right) => left - right);
    const { medianMs, p95Ms, maxMs } = report.waits!;
    expect(maxMs).toBe(exact.at(-1));
    expect(Math.abs(medianMs / exact[Math.ceil(exact.length * 0.5) - 1]! - 1)).toBeLessThan(0.0101);
    expect(Math.abs(p95Ms / exact[Math.ceil(exact.length * 0.95) - 1]! - 1)).toBeLessThan(0.0101);
  });
});
