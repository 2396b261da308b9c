import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Platform } from '../../../apps/demo/src/create-demo.js';
import { disabled } from '../../../apps/demo/src/disabled/disabled.scenario.js';
import { events } from '../../../apps/demo/src/events/events.scenario.js';
import { Ticker } from '../../../apps/demo/src/events/ticker.js';
import { perClient } from '../../../apps/demo/src/per-client/per-client.scenario.js';
import { plans } from '../../../apps/demo/src/plans/plans.scenario.js';
import { queue } from '../../../apps/demo/src/queue/queue.scenario.js';
import type { Scenario } from '../../../apps/demo/src/scenario.js';
import { SCENARIOS } from '../../../apps/demo/src/scenarios.js';
import { shapes } from '../../../apps/demo/src/shapes/shapes.scenario.js';
import { twoPolicies } from '../../../apps/demo/src/two-policies/two-policies.scenario.js';
import { Work } from '../../../apps/demo/src/work/work.js';
import { eventually } from '../nestjs/fixtures/eventually.js';
import type { HttpAnswer } from '../nestjs/fixtures/http-client.js';
import { send } from '../nestjs/fixtures/http-client.js';
import { readCurlLine } from './curl-line.js';
import { collectStatuses, RunningDemo } from './running-demo.js';

const SOURCES = join(__dirname, '../../../apps/demo/src');
const PLATFORMS: Platform[] = ['express', 'fastify'];

const statuses = (answers: readonly HttpAnswer[]): number[] => answers.map(({ status }) => status);
const field = (answers: readonly HttpAnswer[], name: string): unknown[] =>
  answers.map(({ headers }) => headers[name]);

describe.each(PLATFORMS)('the demo on %s', (platform) => {
  let demo: RunningDemo;
  beforeEach(async () => {
    demo = await RunningDemo.start(platform);
  });
  afterEach(() => demo.stop());

  /** The lines of a scenario as this demo serves them: what is tried below is what people are told to type. */
  async function served(scenario: Scenario): Promise<string[]> {
    const page = await send(demo.port, { path: '/', headers: { host: `localhost:${demo.port}` } });
    const lines = scenario.commands(demo.url).map(({ line }) => line);
    for (const line of lines) expect(page.body).toContain(`   ${line}\n`);
    return lines;
  }

  it('lists every scenario with its curl lines, also after many visits', async () => {
    const pages: HttpAnswer[] = [];
    for (let visit = 0; visit < 10; visit++) pages.push(await send(demo.port, { path: '/' }));
    expect(statuses(pages)).toEqual(Array(10).fill(200));
    expect(pages[0]!.headers['content-type']).toBe('text/plain; charset=utf-8');
    for (const { title, promise } of SCENARIOS) {
      expect(pages[0]!.body).toContain(title);
      expect(pages[0]!.body).toContain(promise);
    }
  });

  it('limits each client, and tells it how it stands', async () => {
    const [sixTimes, other] = await served(perClient);
    const answers = await demo.run(sixTimes!);
    expect(statuses(answers)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(field(answers, 'ratelimit')).toEqual([
      '"perClient";r=4;t=10',
      '"perClient";r=3;t=10',
      '"perClient";r=2;t=10',
      '"perClient";r=1;t=10',
      '"perClient";r=0;t=10',
      '"perClient";r=0;t=10',
    ]);
    expect(answers[5]!.headers['retry-after']).toBe('10');
    expect(field(await demo.run(other!), 'ratelimit')).toEqual(['"perClient";r=4;t=10']);
  });

  it('takes two policies together or not at all', async () => {
    const [first, second] = await served(twoPolicies);
    const burst = await demo.run(first!);
    expect(statuses(burst)).toEqual([200, 200, 200, 429, 429]);
    expect(burst[4]!.headers.ratelimit).toBe('"burst";r=0;t=2, "sustained";r=3;t=30');
    expect(burst[4]!.headers['retry-after']).toBe('2');

    demo.clock.advance(2_000);
    const sustained = await demo.run(second!);
    expect(statuses(sustained)).toEqual([200, 200, 200, 429]);
    expect(sustained[3]!.headers.ratelimit).toBe('"burst";r=0;t=2, "sustained";r=0;t=28');
    expect(sustained[3]!.headers['retry-after']).toBe('28');
  });

  it('serves two, lets a third wait and refuses a fourth', async () => {
    const [four, afterwards] = await served(queue);
    const work = demo.provider(Work);
    const came = collectStatuses(demo.open(four!));
    await eventually(() => came.length === 1 && work.running === 2);
    expect(came).toEqual([429]);

    demo.clock.advance(3_000);
    await eventually(() => came.length === 3 && work.running === 1);
    expect(came).toEqual([429, 200, 200]);
    demo.clock.advance(3_000);
    await eventually(() => came.length === 4);
    expect(came).toEqual([429, 200, 200, 200]);

    const later = collectStatuses(demo.open(afterwards!));
    await eventually(() => work.running === 1);
    demo.clock.advance(3_000);
    await eventually(() => later.length === 1);
    expect(later).toEqual([200]);
  });

  it('goes by the plan of the customer', async () => {
    const [free, paid, nobody] = await served(plans);
    const work = demo.provider(Work);
    const ofFred = collectStatuses(demo.open(free!));
    await eventually(() => ofFred.length === 1 && work.running === 2);
    const ofPaula = collectStatuses(demo.open(paid!));
    await eventually(() => ofPaula.length === 1 && work.running === 22);
    expect([ofFred, ofPaula]).toEqual([[429], [429]]);
    expect(statuses(await demo.run(nobody!))).toEqual([401]);

    demo.clock.advance(2_000);
    await eventually(() => ofFred.length === 3 && ofPaula.length === 21);
    expect(ofFred).toEqual([429, 200, 200]);
    expect(ofPaula).toEqual([429, ...Array<number>(20).fill(200)]);
  });

  it('holds the permit of a stream until its client leaves', async () => {
    const [three, afterwards] = await served(events);
    const ticker = demo.provider(Ticker);
    expect(readCurlLine(three!)).toMatchObject({ isParallel: true, leavesAfter: 5 });
    const streams = demo.open(three!);
    const heads = await Promise.all(streams.map(({ head }) => head));
    expect(heads.map(({ statusCode }) => statusCode)).toEqual(expect.arrayContaining([200, 200, 429]));
    expect(ticker.listeners).toBe(2);
    expect(statuses(await demo.run(afterwards!.replace('-m 3 ', '')))).toEqual([429]);

    for (const stream of streams) stream.abort();
    await eventually(() => ticker.listeners === 0);
    const [next] = demo.open(afterwards!);
    expect((await next!.head).statusCode).toBe(200);
    next!.abort();
    await eventually(() => ticker.listeners === 0);
  });

  it('asks no limiter where limiting is disabled', async () => {
    const [quotes, health] = await served(disabled);
    expect(statuses(await demo.run(quotes!))).toEqual([200, 429]);
    const answers = await demo.run(health!);
    expect(statuses(answers)).toEqual([200, 200, 200]);
    expect(field(answers, 'ratelimit')).toEqual([undefined, undefined, undefined]);
  });

  it('meets a burst with a window, a bucket and a queue', async () => {
    const [window, bucket, queued] = await served(shapes);
    const twenty = Array<number>(20).fill(200);
    const few = (line: string): string => line.replace('[1-25]', '[1-6]');
    expect(statuses(await demo.run(window!))).toEqual([...twenty, ...Array(5).fill(429)]);
    expect(statuses(await demo.run(bucket!))).toEqual([...twenty, ...Array(5).fill(429)]);
    demo.clock.advance(1_000);
    expect(statuses(await demo.run(few(window!)))).toEqual(Array(6).fill(429));
    expect(statuses(await demo.run(few(bucket!)))).toEqual([200, 200, 200, 200, 200, 429]);
    demo.clock.advance(4_000);
    expect(statuses(await demo.run(few(window!)))).toEqual(Array(6).fill(200));

    const work = demo.provider(Work);
    const came = collectStatuses(demo.open(queued!));
    for (let served = 0; served < 25; served += 4) {
      await eventually(() => work.running === Math.min(4, 25 - served) && came.length === served);
      demo.clock.advance(500);
    }
    await eventually(() => came.length === 25);
    expect(came).toEqual(Array(25).fill(200));
  });

  it('ends although somebody listens', async () => {
    const [listening] = demo.open(`curl -sN ${demo.url}/events`);
    await listening!.head;
    await demo.stop();
    expect((await listening!.answer).body).toContain('data: second 0');
  });
});

describe('a scenario', () => {
  it.each(SCENARIOS)('has its curl lines at the top of its module: $title', (scenario) => {
    const comments = scenario.commands('http://localhost:3000').map(({ line }) => `//   ${line}\n`);
    const modules = folders().map((folder) =>
      readFileSync(join(SOURCES, folder, `${folder}.module.ts`), 'utf8'),
    );
    const own = modules.filter((source) => source.includes(comments.join('')));
    expect(own).toHaveLength(1);
    expect(own[0]).toMatch(/^\/\/ [^\n]+\n\/\/\n\/\/ {3}(?:curl|node) /);
  });

  it('stands in every folder that is none of the machinery', () => {
    const machinery = ['overview', 'traffic', 'work'];
    expect(folders().filter((folder) => !machinery.includes(folder))).toHaveLength(SCENARIOS.length);
  });
});

function folders(): string[] {
  const entries = readdirSync(SOURCES, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
