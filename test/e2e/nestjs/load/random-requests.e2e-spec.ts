import { Controller, Get } from '@nestjs/common';
import type { AsyncRateLimiter } from '@ratelease/limiters';
import { ConcurrencyLimiter, RateLimitPartition } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import type { CanceledEvent, RateLimitingContext } from '@ratelease/nestjs';
import {
  ConcurrencyLimit,
  DelegatedRateLimiterPolicy,
  EnableRateLimiting,
  RateLimitingModule,
  RateLimitingService,
} from '@ratelease/nestjs';
import * as fc from 'fast-check';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { BrokenLimiter } from '../fixtures/broken-limiter.js';
import { CollectedMetrics } from '../fixtures/collected-metrics.js';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import type { HttpExchange } from '../fixtures/http-client.js';
import type { TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { boundedTrace } from '../../../traces/bounded-trace.js';

const gate = { current: new Gate() };
let ran = 0;

async function work(): Promise<string> {
  ran++;
  await gate.current.pass();
  return 'done';
}

@Controller()
class WorkController {
  @Get('slots')
  @EnableRateLimiting('slots')
  slots(): Promise<string> {
    return work();
  }

  @Get('together')
  @EnableRateLimiting(['window', 'slots', 'shadow'], { phase: 'guard' })
  together(): Promise<string> {
    return work();
  }

  @Get('impatient')
  @EnableRateLimiting(['slots', 'window'], { maxWaitMs: 2, phase: 'handler' })
  impatient(): Promise<string> {
    return work();
  }

  @Get('lenient')
  @EnableRateLimiting(['slots', 'lenient', 'shadow'])
  lenient(): Promise<string> {
    return work();
  }

  @Get('strict')
  @EnableRateLimiting(['strict', 'slots'])
  strict(): Promise<string> {
    return work();
  }

  @Get('answered')
  @EnableRateLimiting(['window', 'answered'])
  @ConcurrencyLimit(2, { when: async () => Promise.resolve(true) })
  answered(): Promise<string> {
    return work();
  }
}

const PATHS = ['slots', 'together', 'impatient', 'lenient', 'strict', 'answered'] as const;
const MOODS = ['well', 'broken', 'late', 'own words', 'nowhere'] as const;

/** Limiters that fail in the ways that there are, by what the request says. */
class Moody {
  readonly #limiters: Record<string, () => AsyncRateLimiter> = {
    well: () => new ConcurrencyLimiter({ permitLimit: 2, queueLimit: 2 }),
    broken: () => new BrokenLimiter(),
    late: () => new BrokenLimiter(() => new Promise(setImmediate)),
    'own words': () => new BrokenLimiter((signal) => once(new EventEmitter(), 'never', { signal })),
  };

  readonly partition = (context: RateLimitingContext): RateLimitPartition<string, AsyncRateLimiter> => {
    const mood = String(context.request.headers['x-mood']);
    if (mood === 'nowhere') throw new Error('There is no partition.');
    return RateLimitPartition.get(mood, this.#limiters[mood]!);
  };
}

/** What happened to each acquisition, by the words of the channels. */
class Histories {
  readonly #kinds = ['acquired', 'refused', 'queued', 'canceled', 'released'] as const;
  readonly #all = new Map<
    number,
    { readonly policies: string; readonly mood: string; readonly words: string[] }
  >();
  readonly #listeners = this.#kinds.map((kind) => (message: unknown) => {
    const { acquisition, policies, context } = message as CanceledEvent;
    const mood = String(context.request.headers['x-mood']);
    const known = this.#all.get(acquisition) ?? { policies: policies.join(), mood, words: [] };
    this.#all.set(acquisition, known);
    known.words.push(kind);
  });

  begin(): void {
    for (const [at, kind] of this.#kinds.entries()) subscribe(`ratelease:${kind}`, this.#listeners[at]!);
  }

  end(): void {
    for (const [at, kind] of this.#kinds.entries()) unsubscribe(`ratelease:${kind}`, this.#listeners[at]!);
  }

  /** Those that are no story from the question to its end. A limiter that fails ends one without a word. */
  get broken(): string[] {
    return [...this.#all.values()]
      .map(({ policies, mood, words }) => `${policies} ${mood}: ${words.join(' ')}`)
      .filter((story) => !/: (queued )?(acquired released|refused|canceled)$/.test(story))
      .filter((story) => !/(strict|lenient).* (broken|late): queued$/.test(story));
  }

  /** How many have come to an end that is counted. */
  get outcomes(): number {
    return [...this.#all.values()].filter(({ words }) => words.at(-1) !== 'queued').length;
  }

  /** How many requests were refused: a policy in shadow mode refuses nobody. */
  get refused(): number {
    return [...this.#all.values()].filter(
      ({ policies, words }) => policies !== 'shadow' && words.at(-1) === 'refused',
    ).length;
  }
}

type Action =
  | { readonly do: 'ask'; readonly path: (typeof PATHS)[number]; readonly mood: (typeof MOODS)[number] }
  | { readonly do: 'leave'; readonly who: number }
  | { readonly do: 'finish' | 'refresh' | 'reset' | 'pass time' | 'look' };

const ask = fc.record({
  do: fc.constant('ask' as const),
  path: fc.constantFrom(...PATHS),
  mood: fc.constantFrom(...MOODS),
});
const leave = fc.record({ do: fc.constant('leave' as const), who: fc.nat({ max: 30 }) });
const other = fc.record({ do: fc.constantFrom('finish', 'refresh', 'reset', 'pass time', 'look') });
const actions = fc.array(
  fc.oneof({ arbitrary: ask, weight: 6 }, { arbitrary: leave, weight: 2 }, { arbitrary: other, weight: 3 }),
  { minLength: 5, maxLength: 30 },
) as fc.Arbitrary<Action[]>;

type Question = Extract<Action, { readonly do: 'ask' }>;
type Sent = Question & { readonly exchange: HttpExchange };

/** A request, and what its client was answered, if it had the patience. */
type End = Question & { readonly status: number | undefined };

async function endOf({ exchange, ...question }: Sent): Promise<End> {
  const answer = await exchange.answer.catch(() => undefined);
  return { ...question, status: answer?.status };
}

/** An answer that such a request must not get. */
function isFault({ path, mood, status }: End): boolean {
  if (status === undefined || status === 200) return status === 200 && path === 'strict' && mood !== 'well';
  if (status === 500) return path !== 'strict' || mood === 'well';
  return status !== 429 && (status !== 418 || path !== 'answered');
}

/** A gauge that isn't 0. */
const NOT_OVER = /^(active|queued)\S* .*\b(-\d+|[1-9]\d*)$/;

/** How many outcomes are counted. */
function outcomes(lines: readonly string[]): number {
  return lines
    .filter((line) => line.startsWith('requests '))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

interface Started {
  readonly app: TestApp;
  readonly clock: FakeClock;
  readonly service: RateLimitingService;
}

/** Acts, and goes on while all are under way. */
async function play(list: readonly Action[], { app, clock, service }: Started): Promise<Sent[]> {
  const sent: Sent[] = [];
  for (const action of list) {
    if (action.do === 'ask') {
      const exchange = app.open(`/${action.path}`, { 'x-mood': action.mood });
      sent.push({ ...action, exchange });
    } else if (action.do === 'leave') sent[action.who]?.exchange.abort();
    else if (action.do === 'finish') gate.current.letOneThrough();
    else if (action.do === 'refresh') service.refreshPolicies();
    else if (action.do === 'reset') void service.reset();
    else if (action.do === 'pass time') clock.advance(60_000);
    else await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await new Promise((resolve) => setTimeout(resolve, 1));
  return sent;
}

describe.each(PLATFORMS)('requests by chance on $name', (platform) => {
  afterEach(async () => {
    gate.current.open();
    await stopApps();
  });

  const start = async (): Promise<Started> => {
    const clock = new FakeClock();
    const moody = new Moody();
    const window = { algorithm: 'fixedWindow', permitLimit: 4, windowMs: 60_000 } as const;
    const app = await startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          clock,
          global: { algorithm: 'concurrency', permitLimit: 5, queueLimit: 4 },
          policies: {
            window,
            slots: () =>
              RateLimitPartition.get('all', () => new ConcurrencyLimiter({ permitLimit: 2, queueLimit: 2 })),
            shadow: { algorithm: 'concurrency', permitLimit: 1, shadow: true },
            lenient: Object.assign(new DelegatedRateLimiterPolicy(moody.partition), { whenFailing: 'allow' }),
            strict: moody.partition,
            answered: new DelegatedRateLimiterPolicy(
              () =>
                RateLimitPartition.getConcurrencyLimiter('all', () => ({ permitLimit: 2, queueLimit: 1 })),
              async (_rejection, { response }) => {
                await new Promise(setImmediate);
                const raw = (response as { raw?: ServerResponse }).raw ?? (response as ServerResponse);
                raw.writeHead(418).end();
              },
            ),
          },
        }),
      ],
      controllers: [WorkController],
    });
    return { app, clock, service: app.app.get(RateLimitingService) };
  };

  const storm = async (list: readonly Action[], started: Started, isLast: boolean): Promise<void> => {
    const { app, service } = started;
    gate.current = new Gate();
    const collected = new CollectedMetrics();
    const histories = new Histories();
    histories.begin();
    const sent = await play(list, started);
    const closed = isLast ? app.app.close() : undefined;
    gate.current.open();
    // Nobody ever answers them.
    for (const { mood, exchange } of sent) if (mood === 'own words') exchange.abort();
    const ends = await Promise.all(sent.map(endOf));
    await (closed ?? app.isDeserted());
    const overview = (): string[] =>
      service
        .overview()
        .filter(({ queued, inUse }) => queued !== 0 || inUse !== 0)
        .map((row) => JSON.stringify(row));
    await eventually(() => histories.broken.length + overview().length === 0).catch(() => undefined);
    histories.end();
    const lines = await collected.lines();
    await collected.end();
    expect([...histories.broken, ...overview(), ...lines.filter((line) => NOT_OVER.test(line))]).toEqual([]);
    expect(ends.filter((end) => isFault(end) && !(isLast && end.status === 503))).toEqual([]);
    const refused = ends.filter(({ status }) => status === 429 || status === 418).length;
    const left = ends.filter(({ status }) => status === undefined).length;
    expect(histories.refused).toBeGreaterThanOrEqual(refused);
    expect(histories.refused).toBeLessThanOrEqual(refused + left);
    expect(outcomes(lines)).toBe(histories.outcomes);
  };

  it('each come to one end, and nothing is held or waits when all are over', async () => {
    const started = await start();
    await fc.assert(
      fc.asyncProperty(
        actions,
        boundedTrace((list) => storm(list, started, false)),
      ),
      { numRuns: 15 },
    );
    expect(ran).toBeGreaterThan(15);
  });

  it('each come to one end where the application ends meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(
        actions,
        boundedTrace(async (list) => storm(list, await start(), true)),
      ),
      { numRuns: 10 },
    );
  });
});
