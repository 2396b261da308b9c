import * as fc from 'fast-check';
import type { PolicyReport } from '../report/simulation-report.js';
import { simulate } from '../simulate.js';
import type { TraceEntry } from '../trace/trace-entry.js';
import type { PolicyAt, SuggestionOptions } from './limit-suggestion.js';
import { suggestLimit } from './suggest-limit.js';

const MONOTONE: Readonly<Record<string, PolicyAt>> = {
  fixedWindow: (permitLimit) => ({ algorithm: 'fixedWindow', permitLimit, windowMs: 100, key: 'ip' }),
  tokenBucket: (tokenLimit) => ({
    algorithm: 'tokenBucket',
    tokenLimit,
    tokensPerPeriod: 1,
    replenishmentPeriodMs: 50,
    key: 'ip',
  }),
  concurrency: (permitLimit) => ({ algorithm: 'concurrency', permitLimit, key: 'ip' }),
};
const OTHERS: Readonly<Record<string, PolicyAt>> = {
  slidingWindow: (permitLimit) => ({
    algorithm: 'slidingWindow',
    permitLimit,
    windowMs: 100,
    segmentsPerWindow: 4,
    key: 'ip',
  }),
  queue: (permitLimit) => ({ algorithm: 'concurrency', permitLimit, queueLimit: 2, key: 'ip' }),
  chain: (permitLimit) => [
    { algorithm: 'fixedWindow', permitLimit, windowMs: 100, key: 'ip' },
    { algorithm: 'concurrency', permitLimit: 3 },
  ],
};

const traces = fc
  .array(
    fc.record({
      // The long pauses let the keys be forgotten.
      gap: fc.oneof({ weight: 20, arbitrary: fc.nat(30) }, fc.constant(30_000)),
      durationMs: fc.nat(80),
      ip: fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3'),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((steps) => {
    let timeMs = 0;
    return steps.map(({ gap, ...rest }): TraceEntry => ({ ...rest, timeMs: (timeMs += gap) }));
  });
const targets = fc.record({
  atMost: fc.constantFrom(0, 0.1, 0.25, 0.5),
  of: fc.constantFrom('requests', 'keys'),
}) as fc.Arbitrary<SuggestionOptions>;

function judged({ refusedShare, refusedKeys, keys }: PolicyReport, { of }: SuggestionOptions): number {
  return of === 'keys' ? refusedKeys / keys : refusedShare;
}

/** By itself, without the search. */
async function shareAt(
  policyAt: PolicyAt,
  limit: number,
  trace: readonly TraceEntry[],
  options: SuggestionOptions,
): Promise<number> {
  const { policies } = await simulate({ alone: policyAt(limit) }, trace);
  return judged(policies[0]!, options);
}

describe('a suggested limit', () => {
  it.each(Object.entries({ ...MONOTONE, ...OTHERS }))(
    'holds what was asked for, and one less doesn’t: %s',
    async (_name, policyAt) => {
      await fc.assert(
        fc.asyncProperty(traces, targets, async (trace, options) => {
          const { limit, at, below } = await suggestLimit(policyAt, trace, { ...options, highest: 64 });
          if (limit === null) {
            expect(await shareAt(policyAt, 64, trace, options)).toBeGreaterThan(options.atMost);
            return;
          }
          expect(await shareAt(policyAt, limit, trace, options)).toBeLessThanOrEqual(options.atMost);
          expect(at).toMatchObject({ limit });
          if (limit === 1) return;
          expect(await shareAt(policyAt, limit - 1, trace, options)).toBeGreaterThan(options.atMost);
          expect(below).toMatchObject({ limit: limit - 1 });
        }),
        { numRuns: 40 },
      );
    },
  );

  it.each(Object.entries(MONOTONE))('is the smallest of all: %s', async (_name, policyAt) => {
    await fc.assert(
      fc.asyncProperty(traces, targets, async (trace, options) => {
        const { limit } = await suggestLimit(policyAt, trace, options);
        let smallest = 1;
        while ((await shareAt(policyAt, smallest, trace, options)) > options.atMost) smallest++;
        expect(limit).toBe(smallest);
      }),
      { numRuns: 40 },
    );
  });

  it('comes with its policy, with what it does, and with all that was tried', async () => {
    const trace = Array.from({ length: 10 }, (_, index) => ({ timeMs: index, ip: `192.0.2.${index % 2}` }));
    const opened: TraceEntry[][] = [];
    const open = (): readonly TraceEntry[] => {
      opened.push(trace);
      return trace;
    };
    const suggestion = await suggestLimit(MONOTONE['fixedWindow']!, open, { atMost: 0.2 });
    expect(suggestion).toMatchObject({
      limit: 4,
      policy: { algorithm: 'fixedWindow', permitLimit: 4 },
      at: { limit: 4, refused: 2, refusedShare: 0.2, refusedKeys: 2, refusedKeysShare: 1 },
      below: { limit: 3, refused: 4, refusedShare: 0.4 },
    });
    const limits = suggestion.trials.map(({ limit }) => limit);
    expect(limits).toEqual([...limits].sort((one, other) => one - other));
    expect(limits).toEqual(expect.arrayContaining([1, 3, 4, 8]));
    expect(opened).toHaveLength(2);
  });

  it('is none where no limit would do', async () => {
    const trace = [0, 0, 0].map((timeMs) => ({ timeMs }));
    const policyAt: PolicyAt = (permitLimit) => [
      { algorithm: 'fixedWindow', permitLimit, windowMs: 100 },
      { algorithm: 'fixedWindow', permitLimit: 2, windowMs: 100 },
    ];
    expect(await suggestLimit(policyAt, trace, { atMost: 0.1, highest: 100 })).toMatchObject({
      limit: null,
      policy: null,
      at: null,
      below: null,
    });
  });

  it('may not be the smallest where more permits refuse more: large requests in the way of small ones', async () => {
    const trace = [4, 1, 1, 1].map((permitCount, timeMs) => ({ timeMs, permitCount }));
    const policyAt: PolicyAt = (permitLimit) => ({ algorithm: 'fixedWindow', permitLimit, windowMs: 100 });
    const shares = await Promise.all([3, 4].map((limit) => shareAt(policyAt, limit, trace, { atMost: 1 })));
    expect(shares).toEqual([0.25, 0.75]);
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ['no share', () => suggestLimit(MONOTONE['fixedWindow']!, [], {} as never), 'atMost must be a share'],
    [
      'a percentage',
      () => suggestLimit(MONOTONE['fixedWindow']!, [], { atMost: 5 }),
      'atMost must be a share',
    ],
    [
      'of what',
      () => suggestLimit(MONOTONE['fixedWindow']!, [], { atMost: 0, of: 'users' as never }),
      "of must be 'requests' or 'keys'",
    ],
    [
      'no limit',
      () => suggestLimit(MONOTONE['fixedWindow']!, [], { atMost: 0, highest: 0.5 }),
      'highest must be an integer of at least 1, but got 0.5',
    ],
    [
      'a policy',
      () => suggestLimit({ algorithm: 'concurrency' } as never, [], { atMost: 0 }),
      'must be a function that makes the policy',
    ],
    [
      'a trace that can be read once',
      () => suggestLimit(MONOTONE['fixedWindow']!, new Set() as never, { atMost: 0 }),
      'must be an array, or a function that opens it anew',
    ],
    ['no options', () => suggestLimit(MONOTONE['fixedWindow']!, [], null as never), 'options must be'],
  ])('can’t be found without what it takes, and says so: %s', async (_what, run, message) => {
    await expect(run()).rejects.toMatchObject({
      name: 'SimulationError',
      code: 'ERR_RL_INVALID_OPTION',
      message: expect.stringContaining(message),
    });
  });
});
