import type { Platform } from '../../../apps/demo/src/create-demo.js';
import { exportsPerCustomer } from '../../../apps/demo/src/exports/exports.scenario.js';
import { Work } from '../../../apps/demo/src/work/work.js';
import { eventually } from '../nestjs/fixtures/eventually.js';
import { RunningDemo } from './running-demo.js';

const PLATFORMS: Platform[] = ['express', 'fastify'];

describe.each(PLATFORMS)('the exports of the demo on %s', (platform) => {
  let demo: RunningDemo;
  beforeEach(async () => {
    demo = await RunningDemo.start(platform);
  });
  afterEach(() => demo.stop());

  it('are open ten at a time, each for any number of requests', async () => {
    const [open, poll, finish, eleventh, stranger] = exportsPerCustomer
      .commands(demo.url)
      .map(({ line }) => line);
    const statuses = async (line: string): Promise<number[]> =>
      (await demo.run(line)).map(({ status }) => status);
    const work = demo.provider(Work);

    expect(await statuses(open!)).toEqual([...Array<number>(10).fill(200), 429]);
    expect(work.running).toBe(10);
    demo.clock.advance(3_000);
    await eventually(() => work.running === 10);
    for (let time = 0; time < 20; time++) {
      const answers = await demo.run(poll!);
      expect(answers.map(({ body }) => body).slice(0, 2)).toEqual(['Export 1: 10 %', 'Export 2: 10 %']);
    }
    expect(await statuses(eleventh!)).toEqual([429]);
    expect(await statuses(finish!)).toEqual([200]);
    expect(await statuses(eleventh!)).toEqual([200]);
    expect(await statuses(stranger!)).toEqual([404]);
  });
});
