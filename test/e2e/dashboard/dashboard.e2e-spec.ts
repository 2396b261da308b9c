import type { CanActivate, ExecutionContext, INestApplication } from '@nestjs/common';
import { Controller, Get, Inject, Injectable, Module } from '@nestjs/common';
import type { RateLimitingDashboardOptions } from '@ratelease/dashboard';
import { RateLimitingDashboardModule } from '@ratelease/dashboard';
import { FakeClock } from '@ratelease/limiters/testing';
import { byHeader, EnableRateLimiting, RateLimitingModule, RateLimitingService } from '@ratelease/nestjs';
import { channel } from 'node:diagnostics_channel';
import { eventually } from '../nestjs/fixtures/eventually.js';
import { Gate } from '../nestjs/fixtures/gate.js';
import type { TestApp } from '../nestjs/fixtures/test-app.js';
import { bootError, PLATFORMS, startApp, stopApps } from '../nestjs/fixtures/test-app.js';
import { openEventStream } from './event-stream.js';

/** What the page reads of a message. */
interface Snapshot {
  readonly from: number;
  readonly until: number;
  readonly policies: readonly {
    readonly policy: string;
    readonly granted: number;
    readonly seconds: number[][];
  }[];
  readonly keys: unknown;
  readonly leases: unknown;
}

const gate = { current: new Gate() };

@Controller()
class WorkController {
  @Get('slow')
  @EnableRateLimiting('slots')
  async slow(): Promise<string> {
    await gate.current.pass();
    return 'done';
  }

  @Get('burst')
  @EnableRateLimiting('burst')
  burst(): string {
    return 'burst';
  }
}

/** Guards of an application have dependencies. */
const OPERATORS = Symbol('operators');

@Module({ providers: [{ provide: OPERATORS, useValue: ['olga'] }], exports: [OPERATORS] })
class OperatorsModule {}

@Injectable()
class OperatorGuard implements CanActivate {
  readonly #operators: readonly string[];

  constructor(@Inject(OPERATORS) operators: readonly string[]) {
    this.#operators = operators;
  }

  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
    return this.#operators.includes(headers['x-operator'] ?? '');
  }
}

const recording = (): boolean => channel('ratelease:acquired').hasSubscribers;

describe.each(PLATFORMS)('the dashboard on $name', (platform) => {
  let clock: FakeClock;
  beforeEach(() => {
    clock = new FakeClock();
    gate.current = new Gate();
  });
  afterEach(stopApps);

  const limiting = (globalPermits?: number) =>
    RateLimitingModule.forRoot({
      clock,
      globalPhase: 'middleware',
      ...(globalPermits === undefined
        ? {}
        : { global: { algorithm: 'fixedWindow', permitLimit: globalPermits, windowMs: 60_000 } }),
      policies: {
        slots: { algorithm: 'concurrency', permitLimit: 1, queueLimit: 2 },
        burst: { algorithm: 'fixedWindow', permitLimit: 2, windowMs: 60_000, key: byHeader('X-Key') },
      },
    });
  const start = (
    options: Partial<RateLimitingDashboardOptions> = {},
    prepare?: (app: INestApplication) => unknown,
    globalPermits?: number,
  ): Promise<TestApp> =>
    startApp(
      platform,
      {
        imports: [
          limiting(globalPermits),
          RateLimitingDashboardModule.forRoot({
            clock,
            guards: 'unguarded',
            recording: 'always',
            ...options,
          }),
        ],
        controllers: [WorkController],
      },
      prepare,
    );

  /** Opens the stream, once its first message is there. */
  async function watch(app: TestApp) {
    const stream = await openEventStream<Snapshot>(app.port, '/rate-limits/stream');
    await eventually(() => stream.messages.length === 1);
    return stream;
  }

  const policy = ({ policies }: Snapshot, name: string) => policies.find((each) => each.policy === name)!;

  it('serves a page of its own files, with no inline code', async () => {
    const app = await start();
    const page = await app.get('/rate-limits');
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toMatch(/default-src 'none'; script-src 'self'/);
    expect(page.headers['cache-control']).toBe('no-store');
    expect(page.body).not.toMatch(/<script(?![^>]* src=)|\son\w+=|style=|\{\{/);
    const files = [...page.body.matchAll(/(?:src|href)="(\.[^"]+)"/g)].map(([, file]) => file!);
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      const { status, headers } = await app.get(new URL(file, 'http://host/rate-limits').pathname);
      expect([file, status]).toEqual([file, 200]);
      expect(headers['content-type']).toMatch(/^text\/(css|javascript)/);
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
    for (const none of ['none.js', 'index.html', '__proto__', '..%2findex.js'])
      expect((await app.get(`/rate-limits/assets/${none}`)).status).toBe(404);
  });

  it('finds its files below a prefix and any path, and writes a title as text', async () => {
    const app = await start({ path: 'ops/limits', title: '<b>"A&B"' }, (nest) => nest.setGlobalPrefix('api'));
    const page = await app.get('/api/ops/limits');
    expect(page.body).toContain('src="./limits/assets/main.js"');
    expect(page.body).toContain('<h1>&lt;b&gt;&quot;A&amp;B&quot;</h1>');
    expect((await app.get('/api/ops/limits/assets/main.js')).status).toBe(200);
  });

  it.each(['/rate-limits', '/rate-limits/assets/main.js', '/rate-limits/stream'])(
    'answers 403 where a guard refuses: %s',
    async (path) => {
      const app = await start({
        guards: [OperatorGuard],
        imports: [OperatorsModule],
        recording: 'whileWatched',
      });
      expect((await app.get(path)).status).toBe(403);
      expect(recording()).toBe(false);
      const { head, abort } = app.open(path, { 'x-operator': 'olga' });
      expect((await head).statusCode).toBe(200);
      abort();
    },
  );

  it('tells what was, and each second what is new', async () => {
    const app = await start({ keys: 'plain' });
    expect(await app.statuses('/burst', 3, { 'x-key': 'ann' })).toEqual([200, 200, 429]);
    clock.advance(3_000);
    const { messages, leave } = await watch(app);
    const [past] = messages;
    const burst = policy(past!, 'burst');
    expect(burst).toMatchObject({ granted: 2, refused: 1, queued: 0, inUse: 0 });
    expect(burst.seconds.at(-3)).toEqual([2, 1, 0, 0, 0, 0, 0]);
    expect(past!.keys).toEqual([
      { policy: 'burst', key: 'header="x-key"=ann', requests: 3, overestimate: 0, refused: 1 },
    ]);

    const first = app.open('/slow');
    await eventually(() => gate.current.waiting === 1);
    const service = app.app.get(RateLimitingService, { strict: false });
    const second = app.open('/slow');
    await eventually(() => service.overview().some(({ queued }) => queued === 1));
    // The event of waiting comes a turn later.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    clock.advance(1_000);
    await eventually(() => messages.length === 2);
    expect(messages[1]!.from).toBe(past!.until + 1);
    expect(policy(messages[1]!, 'slots')).toMatchObject({ queued: 1, inUse: 1, available: 0 });
    expect(policy(messages[1]!, 'slots').seconds).toEqual([[1, 0, 1, 1, 0, 0, 0]]);
    expect(messages[1]!.leases).toMatchObject([{ endpoint: 'WorkController.slow', heldMs: 1_000 }]);

    gate.current.open();
    await Promise.all([first.answer, second.answer]);
    await eventually(() => service.overview().every(({ inUse }) => inUse === 0));
    clock.advance(1_000);
    await eventually(() => messages.length === 3);
    expect(policy(messages[2]!, 'slots').seconds).toEqual([[1, 0, 1, 1, 1_000, 1_000, 1_000]]);
    expect(messages[2]!.leases).toEqual([]);
    leave();
  });

  it('shows no key as it is, unless told to', async () => {
    const app = await start();
    await app.get('/burst', { 'x-key': 'ann' });
    const { messages, leave } = await watch(app);
    expect(messages[0]!.keys).toMatchObject([{ policy: 'burst', requests: 1 }]);
    expect(JSON.stringify(messages)).not.toContain('ann');
    leave();
    const without = await start({ keys: 'none' });
    await without.get('/burst', { 'x-key': 'ann' });
    const other = await watch(without);
    expect(other.messages[0]!.keys).toBeNull();
    other.leave();
  });

  it('has one timer for all who watch, none for nobody, and spends nothing of the limits', async () => {
    const setTimer = jest.spyOn(clock, 'setTimer');
    const app = await start({ recording: undefined }, undefined, 3);
    expect(setTimer).not.toHaveBeenCalled();
    expect(recording()).toBe(false);
    const watchers = [await watch(app), await watch(app), await watch(app)];
    for (let visit = 0; visit < 5; visit++) expect((await app.get('/rate-limits')).status).toBe(200);
    expect(setTimer).toHaveBeenCalledTimes(1);
    clock.advance(1_000);
    expect(setTimer).toHaveBeenCalledTimes(2);
    await eventually(() => watchers.every(({ messages }) => messages.length === 2));
    expect(policy(watchers[0]!.messages[1]!, 'global').granted).toBe(0);
    for (const { leave } of watchers) leave();
    await eventually(() => !recording());
    clock.advance(10_000);
    expect(setTimer).toHaveBeenCalledTimes(2);
    expect(await app.statuses('/burst', 2, { 'x-key': 'ann' })).toEqual([200, 200]);
  });

  it('ends a stream after five minutes, so that the guards are asked again, and all when the application ends', async () => {
    const app = await start();
    const early = await watch(app);
    clock.advance(4 * 60_000);
    const late = await watch(app);
    clock.advance(60_000);
    await eventually(() => early.head.complete);
    clock.advance(1_000);
    await eventually(() => late.messages.length > 1);
    expect(late.head.complete).toBe(false);
    await app.app.close();
    await eventually(() => late.head.complete);
    expect(recording()).toBe(false);
  });

  it('shows its own application only', async () => {
    const [one, other] = [await start(), await start()];
    await one.get('/burst', { 'x-key': 'ann' });
    const { messages, leave } = await watch(other);
    expect(policy(messages[0]!, 'burst').seconds.every(([granted]) => granted === 0)).toBe(true);
    leave();
  });

  it('stops the boot where nothing limits', async () => {
    const imports = [RateLimitingDashboardModule.forRoot({ guards: 'unguarded' })];
    expect(await bootError(platform, { imports })).toMatchObject({
      name: 'RateLimitingDashboardError',
      code: 'ERR_RL_MODULE_MISSING',
    });
  });
});

describe('options of the dashboard', () => {
  it.each([
    [{}, 'ERR_RL_DASHBOARD_UNGUARDED', "guards: 'unguarded'"],
    [{ guards: [] }, 'ERR_RL_DASHBOARD_UNGUARDED', 'needs guards'],
    [{ guards: [Gate] }, 'ERR_RL_INVALID_OPTION', 'guards must be an array of guards'],
    [{ guards: 'none' }, 'ERR_RL_INVALID_OPTION', "but is 'none'"],
    [
      { guards: 'unguarded', keys: 'all' },
      'ERR_RL_INVALID_OPTION',
      'keys must be one of "hashed", "plain", "none"',
    ],
    [{ guards: 'unguarded', recording: true }, 'ERR_RL_INVALID_OPTION', 'recording must be one of'],
    [{ guards: 'unguarded', path: 7 }, 'ERR_RL_INVALID_OPTION', 'path must be a text'],
    [{ guards: 'unguarded', scripts: '/x.js' }, 'ERR_RL_INVALID_OPTION', 'scripts must be an array'],
    [{ guards: 'unguarded', route: 'x' }, 'ERR_RL_UNKNOWN_OPTION', 'no option "route"'],
  ])('are checked where they are given: %j', (options, code, message) => {
    const forRoot = () => RateLimitingDashboardModule.forRoot(options as never);
    expect(forRoot).toThrow(expect.objectContaining({ code }));
    expect(forRoot).toThrow(message);
  });

  it('take guards as classes and as instances', () => {
    const instance: CanActivate = { canActivate: () => true };
    expect(RateLimitingDashboardModule.forRoot({ guards: [OperatorGuard, instance] })).toBeDefined();
  });
});
