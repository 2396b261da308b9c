import * as fc from 'fast-check';
import type { Platform } from '../../../apps/demo/src/create-demo.js';
import { arrivals } from '../../../apps/demo/src/traffic/arrivals.js';
import type { TrafficPlan } from '../../../apps/demo/src/traffic/traffic-plan.js';
import type { TrafficState } from '../../../apps/demo/src/traffic/traffic-state.js';
import { Traffic } from '../../../apps/demo/src/traffic/traffic.js';
import { Work } from '../../../apps/demo/src/work/work.js';
import { eventually } from '../nestjs/fixtures/eventually.js';
import { send } from '../nestjs/fixtures/http-client.js';
import { RunningDemo } from './running-demo.js';

const PLAN: TrafficPlan = {
  target: 'window',
  shape: 'burst',
  rate: 30,
  clients: 1,
  concurrency: 50,
  seconds: 1,
};

const anyPlan = fc.record({
  target: fc.constant('window'),
  shape: fc.constantFrom('steady', 'burst', 'ramp', 'greedy'),
  rate: fc.integer({ min: 1, max: 200 }),
  clients: fc.integer({ min: 1, max: 50 }),
  concurrency: fc.integer({ min: 1, max: 200 }),
  seconds: fc.integer({ min: 1, max: 60 }),
}) as fc.Arbitrary<TrafficPlan>;

describe('arrivals', () => {
  it('come in order, within the time, from the clients there are, and are not more than promised', () => {
    fc.assert(
      fc.property(anyPlan, (plan) => {
        const coming = arrivals(plan);
        const times = coming.map(({ atMs }) => atMs);
        expect(times.every((atMs, index) => atMs >= (times[index - 1] ?? 0))).toBe(true);
        expect(times.every((atMs) => atMs < plan.seconds * 1_000)).toBe(true);
        expect(coming.every(({ client }) => client < plan.clients)).toBe(true);
        const patient = plan.shape === 'greedy' ? plan.clients * Math.ceil(plan.seconds / 2) : 0;
        expect(coming.length).toBeLessThanOrEqual(plan.rate * plan.seconds + patient);
      }),
    );
  });

  it('have the shape that was asked for', () => {
    const perSecond = (plan: Partial<TrafficPlan>): number[] => {
      const full = { ...PLAN, rate: 10, seconds: 10, ...plan };
      const counts = Array<number>(full.seconds).fill(0);
      for (const { atMs } of arrivals(full)) counts[Math.floor(atMs / 1_000)]!++;
      return counts;
    };
    expect(perSecond({ shape: 'steady' })).toEqual(Array(10).fill(10));
    expect(perSecond({ shape: 'burst' })).toEqual([10, 0, 0, 0, 0, 10, 0, 0, 0, 0]);
    expect(perSecond({ shape: 'ramp', rate: 20 })).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    const greedy = arrivals({ ...PLAN, shape: 'greedy', rate: 10, clients: 3, seconds: 4 });
    expect([0, 1, 2].map((client) => greedy.filter((each) => each.client === client).length)).toEqual([
      40, 2, 2,
    ]);
  });
});

const PLATFORMS: Platform[] = ['express', 'fastify'];

describe.each(PLATFORMS)('the traffic of the demo on %s', (platform) => {
  let demo: RunningDemo;
  beforeEach(async () => {
    demo = await RunningDemo.start(platform);
  });
  afterEach(() => demo.stop());

  const ask = async (method: string, body?: unknown): Promise<TrafficState> => {
    const { body: text } = await send(demo.port, { method, path: '/traffic', body });
    return JSON.parse(text) as TrafficState;
  };

  it('sends what was asked for, and counts the answers', async () => {
    expect(await ask('POST', PLAN)).toMatchObject({ sent: 30, isRunning: true });
    await eventually(() => !demo.provider(Traffic).state.isRunning);
    expect(await ask('GET')).toEqual({
      ...{ isRunning: false, sent: 30, onTheirWay: 0, unanswered: 0, heldBack: 0 },
      answers: { 200: 20, 429: 10 },
    });
  });

  it('comes from as many clients as asked for, and holds back what would be too many at once', async () => {
    await ask('POST', { ...PLAN, clients: 3 });
    await eventually(() => !demo.provider(Traffic).state.isRunning);
    expect(await ask('GET')).toMatchObject({ answers: { 200: 30 } });
    await ask('POST', { ...PLAN, target: 'queue', concurrency: 10 });
    expect(await ask('GET')).toMatchObject({ sent: 10, onTheirWay: 10, heldBack: 20 });
  });

  it('stops at once when told to: nobody waits in a queue any more', async () => {
    const work = demo.provider(Work);
    await ask('POST', { ...PLAN, target: 'queue', shape: 'steady', rate: 20, seconds: 60 });
    for (let tick = 0; tick < 20; tick++) demo.clock.advance(20);
    await eventually(() => work.running === 4 || demo.provider(Traffic).state.sent === 9);
    expect(await ask('DELETE')).toMatchObject({ sent: 9 });
    await eventually(() => !demo.provider(Traffic).state.isRunning);
    demo.clock.advance(10_000);
    expect(await ask('GET')).toMatchObject({ sent: 9, unanswered: 9, onTheirWay: 0 });
  });

  it('is bounded, and explains what it does not take', async () => {
    const refused = async (body: unknown): Promise<string> => {
      const { status, body: text } = await send(demo.port, { method: 'POST', path: '/traffic', body });
      expect(status).toBe(400);
      return (JSON.parse(text) as { message: string }).message;
    };
    expect(await refused({ ...PLAN, rate: 201 })).toBe('rate must be an integer from 1 to 200.');
    expect(await refused({ ...PLAN, seconds: 0 })).toBe('seconds must be an integer from 1 to 60.');
    expect(await refused({ ...PLAN, target: 'elsewhere' })).toMatch(/^target must be one of window, bucket/);
    expect(await refused({ ...PLAN, shape: 'flat' })).toMatch(/^shape must be one of steady/);
    expect(await refused([])).toMatch(/^target must be/);
  });
});
