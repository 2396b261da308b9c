import type { SimulatedPolicy } from './policies/policy-options.js';
import { simulate } from './simulate.js';
import type { SimulatedOutcome } from './simulation-options.js';
import type { TraceEntry } from './trace/trace-entry.js';

describe('a simulation that can’t be', () => {
  const window: SimulatedPolicy = { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 1_000 };

  it.each<[string, () => Promise<unknown>, string, string]>([
    [
      'no duration',
      () => simulate({ work: { algorithm: 'concurrency', permitLimit: 1 } }, [{ timeMs: 0 }]),
      'ERR_RL_MISSING_DURATION',
      "but entry 1 doesn't say how long its work took",
    ],
    [
      'no time',
      () => simulate(window, [{ timeMs: NaN, line: 3 }]),
      'ERR_RL_INVALID_TRACE',
      'At line 3: timeMs must be a finite number, but got NaN.',
    ],
    [
      'a negative duration',
      () => simulate(window, [{ timeMs: 0 }, { timeMs: 0, durationMs: -1 }]),
      'ERR_RL_INVALID_TRACE',
      'At entry 2: durationMs',
    ],
    ['no entry', () => simulate(window, [null as never]), 'ERR_RL_INVALID_TRACE', 'Entry 1 is null.'],
    [
      'no trace',
      () => simulate(window, 'log' as never),
      'ERR_RL_INVALID_TRACE',
      'The trace must be iterable, but got "log".',
    ],
    [
      'no milliseconds',
      () => simulate(window, [], { maxWaitMs: -1 }),
      'ERR_RL_INVALID_OPTION',
      'simulate: maxWaitMs must be',
    ],
    ['no step', () => simulate(window, [], { stepMs: 0 }), 'ERR_RL_INVALID_OPTION', 'stepMs must be above 0'],
    [
      'no such option',
      () => simulate(window, [], { duration: 5 } as never),
      'ERR_RL_UNKNOWN_OPTION',
      'no option "duration"',
    ],
  ])('says so: %s', async (_what, run, code, message) => {
    await expect(run()).rejects.toMatchObject({
      name: 'SimulationError',
      code,
      message: expect.stringContaining(message),
    });
  });

  it('hands on what the trace, a key function or a listener throws', async () => {
    const fault = new Error('mine');
    const fail = (): never => {
      throw fault;
    };
    function* broken(): Generator<TraceEntry> {
      yield { timeMs: 0 };
      fail();
    }
    const threeAtOnce = [0, 0, 0].map((timeMs) => ({ timeMs, durationMs: 5 }));
    const queue: SimulatedPolicy = { algorithm: 'concurrency', permitLimit: 1, queueLimit: 5 };
    await expect(simulate(window, broken())).rejects.toBe(fault);
    await expect(simulate({ ...window, key: fail }, [{ timeMs: 0 }])).rejects.toBe(fault);
    await expect(simulate(window, [{ timeMs: 0 }], { onOutcome: fail })).rejects.toBe(fault);
    const afterWaiting = ({ waitedMs }: SimulatedOutcome): void => void (waitedMs > 0 && fail());
    await expect(simulate(queue, threeAtOnce, { onOutcome: afterWaiting })).rejects.toBe(fault);
  });
});
