import { runScenario } from './run-scenario.js';
import type { Scenario, Step } from './scenario.js';

function scenario(...steps: Step[]): Scenario {
  const limiter = { type: 'concurrency', options: { permitLimit: 1, queueLimit: 1 } };
  return { id: 'a scenario', limiter, steps };
}

function withFake(...steps: Step[]): Scenario {
  return { id: 'a fake', limiter: { type: 'fake', options: {} }, steps };
}

describe('running a scenario', () => {
  it('passes when every step goes as expected', async () => {
    const steps: Step[] = [
      { op: 'attemptAcquire', as: 'held', expect: { isAcquired: true } },
      { op: 'acquire', as: 'waiting', expect: { pending: true } },
      { op: 'disposeLease', of: 'held' },
      { op: 'settled', of: 'waiting', expect: { isAcquired: true } },
    ];
    await expect(runScenario(scenario(...steps))).resolves.toBeUndefined();
  });

  it('fails on an operation that there is not, also inside a repetition', async () => {
    await expect(runScenario(scenario({ op: 'juggle' }))).rejects.toThrow('There is no operation juggle');
    const repeated: Step = { op: 'repeat', times: 1, steps: [{ op: 'juggle' }] };
    await expect(runScenario(scenario(repeated))).rejects.toThrow('juggle');
  });

  it.each<Step>([
    { op: 'attemptAcquire', expect: { isAcquired: false } },
    { op: 'attemptAcquire', expect: { throws: 'range' } },
    { op: 'attemptAcquire', permits: 2, expect: { throws: 'disposed' } },
    { op: 'attemptAcquire', permits: 2 },
    { op: 'attemptAcquire', permits: 2, expect: { throws: 'range', messageIncludes: ['banana'] } },
    { op: 'attemptAcquire', expect: { metadata: { RETRY_AFTER: 1 } } },
    { op: 'attemptAcquire', expect: { metadataNames: ['RETRY_AFTER'] } },
    { op: 'acquire', expect: { pending: true } },
    { op: 'acquire', expect: { throws: 'canceled' } },
    { op: 'acquire', permits: 2, expect: { isAcquired: true } },
    { op: 'statistics', expect: { currentAvailablePermits: 2 } },
    { op: 'statistics', expect: { isNull: true } },
    { op: 'tryReplenish', expect: { returns: true } },
    { op: 'idleDuration', expect: { ms: 1 } },
    { op: 'properties', expect: { isReplenishing: true } },
    { op: 'timers', expect: { pending: 1 } },
    { op: 'settleOrder', expect: { order: ['nobody'] } },
    { op: 'settled', of: 'nobody' },
    { op: 'disposeLease', of: 'nobody' },
    { op: 'construct', expect: { throws: 'range' } },
    { op: 'statistics', on: 'nobody' },
    { op: 'fakeCounts', expect: { attempt: 0 } },
  ])('fails when the limiter does otherwise: %j', async (step) => {
    await expect(runScenario(scenario(step))).rejects.toThrow(step.op);
  });

  it('counts the calls of a fake, exactly or at least', async () => {
    const call: Step = { op: 'attemptAcquire' };
    const counted = (attempt: unknown): Step => ({ op: 'fakeCounts', expect: { attempt } });
    await expect(runScenario(withFake(call, counted(1), counted({ min: 1 })))).resolves.toBeUndefined();
    await expect(runScenario(withFake(call, counted(2)))).rejects.toThrow('expected 2, got 1');
    await expect(runScenario(withFake(call, counted({ min: 2 })))).rejects.toThrow('at least 2, got 1');
  });

  it('fails on a limiter of an unknown type and on an unknown special value', async () => {
    const steps: Step[] = [{ op: 'statistics' }];
    const unknown = { id: 'x', limiter: { type: 'leaky' }, steps };
    await expect(runScenario(unknown)).rejects.toThrow('Unknown type of limiter leaky');
    const odd = scenario({ op: 'attemptAcquire', permits: { $: 'date:today' } });
    await expect(runScenario(odd)).rejects.toThrow('Unknown special value date:today');
  });
});
