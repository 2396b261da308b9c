import type { PolicyReport } from './report/simulation-report.js';
import { simulate } from './simulate.js';
import type { SimulationOptions } from './simulation-options.js';
import type { SimulatedPolicy } from './policies/policy-options.js';
import type { TraceEntry } from './trace/trace-entry.js';

/** So many requests at each time. */
function trace(counts: Readonly<Record<number, number>>, rest: Partial<TraceEntry> = {}): TraceEntry[] {
  return Object.entries(counts).flatMap(([time, count]) =>
    Array.from({ length: count }, () => ({ timeMs: Number(time), ...rest })),
  );
}

async function one(
  policy: SimulatedPolicy,
  entries: readonly TraceEntry[],
  options?: SimulationOptions,
): Promise<PolicyReport> {
  const { policies } = await simulate(policy, entries, options);
  return policies[0]!;
}

const counts = ({ grantedAtOnce, grantedAfterWait, refused }: PolicyReport): number[] => [
  grantedAtOnce,
  grantedAfterWait,
  refused,
];

describe('a simulation', () => {
  it('grants what the limiter grants', async () => {
    const report = await one(
      { algorithm: 'fixedWindow', permitLimit: 3, windowMs: 1_000 },
      trace({ 0: 5, 500: 1, 1_000: 2, 5_000: 4 }),
    );
    expect(counts(report)).toEqual([8, 0, 4]);
    expect(report).toMatchObject({ requests: 12, keys: 1, refusedShare: 4 / 12, waits: null, gaveUp: 0 });
  });

  it('lets requests wait, and says for how long', async () => {
    const report = await one(
      {
        algorithm: 'tokenBucket',
        tokenLimit: 1,
        tokensPerPeriod: 1,
        replenishmentPeriodMs: 100,
        queueLimit: 4,
      },
      trace({ 0: 6 }),
    );
    expect(counts(report)).toEqual([1, 4, 1]);
    expect(report.waits).toEqual({ medianMs: 200, p95Ms: 400, maxMs: 400 });
  });

  it('holds the permits of a concurrency limit as long as the work takes', async () => {
    const policy: SimulatedPolicy = { algorithm: 'concurrency', permitLimit: 1, queueLimit: 1 };
    const entries = [
      { timeMs: 0, durationMs: 100 },
      { timeMs: 10, durationMs: 50 },
      { timeMs: 20, durationMs: 50 },
      { timeMs: 150 },
    ];
    const outcomes: string[] = [];
    await one(policy, entries, {
      durationMs: 5,
      onOutcome: ({ entry, outcome, waitedMs }) =>
        outcomes.push(`${entry.timeMs} ${outcome} after ${waitedMs}`),
    });
    expect(outcomes).toEqual([
      '0 granted after 0',
      '20 refused after 0',
      '10 granted after 90',
      '150 granted after 0',
    ]);
  });

  it('serves the waiting in turn, each work beginning when the one before ends', async () => {
    const report = await one(
      { algorithm: 'concurrency', permitLimit: 2, queueLimit: 100 },
      trace({ 0: 8 }, { durationMs: 50 }),
    );
    expect(counts(report)).toEqual([2, 6, 0]);
    expect(report.waits).toEqual({ medianMs: 100, p95Ms: 150, maxMs: 150 });
  });

  it('lets clients give up', async () => {
    const report = await one(
      { algorithm: 'concurrency', permitLimit: 1, queueLimit: 10 },
      trace({ 0: 3 }, { durationMs: 1_000 }),
      { maxWaitMs: 1_500 },
    );
    expect(counts(report)).toEqual([1, 1, 1]);
    expect(report.gaveUp).toBe(1);
  });

  it('counts for each key, and names those that were refused most', async () => {
    const entries = [
      ...trace({ 0: 5 }, { ip: 'a' }),
      ...trace({ 0: 2 }, { ip: 'b' }),
      ...trace({ 0: 3 }, { ip: 'c' }),
    ];
    const report = await one(
      { algorithm: 'fixedWindow', permitLimit: 2, windowMs: 1_000, key: 'ip' },
      entries,
      {
        topKeys: 1,
      },
    );
    expect(report.keys).toBe(3);
    expect(report.topRefused).toEqual([
      { key: 'a', requests: 5, grantedAtOnce: 2, grantedAfterWait: 0, refused: 3 },
    ]);
  });

  it('replays several policies side by side, each as if it were alone', async () => {
    const strict: SimulatedPolicy = { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 1_000 };
    const loose: SimulatedPolicy = { ...strict, permitLimit: 3 };
    const { policies } = await simulate({ strict, loose }, trace({ 0: 4 }));
    expect(policies.map((policy) => [policy.name, ...counts(policy)])).toEqual([
      ['strict', 1, 0, 3],
      ['loose', 3, 0, 1],
    ]);
  });

  it('lets the members of a chain grant together or not at all', async () => {
    const perIp: SimulatedPolicy = { algorithm: 'fixedWindow', permitLimit: 2, windowMs: 1_000, key: 'ip' };
    const all: SimulatedPolicy = { algorithm: 'fixedWindow', permitLimit: 3, windowMs: 1_000 };
    const entries = [...trace({ 0: 4 }, { ip: 'a' }), ...trace({ 0: 4 }, { ip: 'b' })];
    const { policies } = await simulate({ both: [perIp, all] }, entries);
    expect(counts(policies[0]!)).toEqual([3, 0, 5]);
    expect(policies[0]!.topRefused.map(({ key, refused }) => [key, refused])).toEqual([
      ['b | shared', 3],
      ['a | shared', 2],
    ]);
  });

  it('lets a chain wait for all of its members', async () => {
    const { policies } = await simulate(
      {
        both: [
          { algorithm: 'concurrency', permitLimit: 1, queueLimit: 5 },
          { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 100, queueLimit: 5 },
        ],
      },
      trace({ 0: 3 }, { durationMs: 150 }),
    );
    expect(counts(policies[0]!)).toEqual([1, 2, 0]);
    expect(policies[0]!.waits).toMatchObject({ medianMs: 150, maxMs: 300 });
  });

  it('applies a policy only to its paths and methods', async () => {
    const entries: TraceEntry[] = [
      { timeMs: 0, path: '/reports/1', method: 'POST' },
      { timeMs: 0, path: '/reports/2', method: 'POST' },
      { timeMs: 0, path: '/reports/2', method: 'GET' },
      { timeMs: 0, path: '/other', method: 'POST' },
      { timeMs: 0 },
    ];
    const report = await one(
      { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 1_000, paths: '/reports*', methods: 'post' },
      entries,
    );
    expect([report.requests, report.refused, report.outside]).toEqual([2, 1, 3]);
  });

  it('asks only those members of a chain that are for the request', async () => {
    const writes: SimulatedPolicy = {
      algorithm: 'fixedWindow',
      permitLimit: 1,
      windowMs: 1_000,
      methods: 'POST',
    };
    const all: SimulatedPolicy = { algorithm: 'fixedWindow', permitLimit: 3, windowMs: 1_000, paths: '/a' };
    const entries = ['POST /a', 'POST /a', 'GET /a', 'GET /a', 'GET /a', 'GET /b'].map((request) => {
      const [method, path] = request.split(' ');
      return { timeMs: 0, method, path };
    });
    const { policies } = await simulate({ both: [writes, all] }, entries);
    expect([policies[0]!.requests, policies[0]!.refused, policies[0]!.outside]).toEqual([5, 2, 1]);
  });

  it('lets requests without a key through, and counts them', async () => {
    const report = await one({ algorithm: 'fixedWindow', permitLimit: 1, windowMs: 1_000, key: 'user' }, [
      { timeMs: 0, user: 'ann' },
      { timeMs: 0 },
      { timeMs: 0 },
    ]);
    expect([report.requests, report.withoutKey, report.refused]).toEqual([1, 2, 0]);
  });

  it('refuses what asks for more permits than there are', async () => {
    const report = await one({ algorithm: 'fixedWindow', permitLimit: 5, windowMs: 1_000 }, [
      { timeMs: 0, permitCount: 6 },
      { timeMs: 0, permitCount: 5 },
      { timeMs: 0 },
    ]);
    expect(counts(report)).toEqual([1, 0, 2]);
  });

  it('has nothing to say about an empty trace', async () => {
    const report = await simulate({ algorithm: 'fixedWindow', permitLimit: 5, windowMs: 1_000 }, []);
    expect(report).toMatchObject({ entries: 0, fromMs: null, toMs: null, late: { count: 0 } });
    expect(report.policies[0]).toMatchObject({
      requests: 0,
      refusedShare: 0,
      keys: 0,
      timeline: { steps: [] },
    });
  });

  it('takes traces in any iterable form, and whatever origin their time has', async () => {
    const entries = trace({ 1_000_000_000_000: 4, 1_000_000_000_900: 2, 1_000_000_001_000: 3 });
    const policy: SimulatedPolicy = {
      algorithm: 'slidingWindow',
      permitLimit: 3,
      windowMs: 1_000,
      segmentsPerWindow: 5,
    };
    async function* later(): AsyncGenerator<TraceEntry> {
      yield* entries;
    }
    const reports = await Promise.all([
      simulate(policy, entries),
      simulate(policy, new Set(entries)),
      simulate(policy, later()),
      simulate(
        policy,
        entries.map((entry) => ({ ...entry, timeMs: entry.timeMs - 1_000_000_000_000 })),
      ),
    ]);
    expect(reports.map(({ policies }) => counts(policies[0]!))).toEqual(reports.map(() => [6, 0, 3]));
    expect(reports[0]).toMatchObject({ fromMs: 1_000_000_000_000, toMs: 1_000_000_001_000 });
  });
});
