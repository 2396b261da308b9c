import { setTimeout as after } from 'node:timers/promises';
import type { RateLimitLease } from '@ratelease/limiters';
import * as fc from 'fast-check';
import type { Redis } from 'ioredis';
import type { RemoteLease } from '../../src/index.js';
import { LeaseLostError } from '../../src/index.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { clientsThatReconnect } from '../../../../test/redis/clients.js';
import type { CuttingProxy } from '../../../../test/redis/cutting-proxy.js';
import { ProxiedServer } from '../../../../test/redis/proxied-server.js';
import type { Way } from './linked-sessions.js';
import { PERMIT_LIMIT, Session, SessionsOfAProcess, WAYS } from './linked-sessions.js';
import { boundedTrace } from '../../../../test/traces/bounded-trace.js';

let proxied: ProxiedServer;
let proxy: CuttingProxy;
let admin: Redis;
let clients: OpenClient[];
beforeAll(async () => {
  proxied = await ProxiedServer.start();
  ({ proxy, admin } = proxied);
  clients = await Promise.all(clientsThatReconnect(5).map(({ open }) => open(proxy.port)));
});
afterAll(async () => {
  for (const client of clients) client.close();
  await proxied.stop();
});

/** None of them takes as long as a lease lasts. */
const TROUBLES = {
  'all connections are cut': () => proxy.cut(),
  'the server closes them': () => admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
  'an answer is lost with its connection': () => proxy.swallowNext(),
  'the scripts are forgotten': () => admin.script('FLUSH', 'SYNC'),
  'answers are late': () => (proxy.delayMs = 3),
  'the server stands still': async () => {
    proxied.server.pause();
    await after(60);
    proxied.server.resume();
  },
};
const PAUSES = {
  'a microtask': () => Promise.resolve(),
  'a turn': () => new Promise<void>((resolve) => setImmediate(resolve)),
  'a millisecond': () => after(1),
  'some milliseconds': () => after(8),
};

const which = fc.nat(30);
const process = fc.nat(1);
const isTwice = fc.boolean();
const anyStep = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      what: fc.constant('ask' as const),
      process,
      which: fc.nat(2),
      way: fc.constantFrom(...WAYS),
      maxWaitMs: fc.constantFrom(undefined, undefined, undefined, 0, 30),
    }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('abort' as const), which }) },
  { weight: 6, arbitrary: fc.record({ what: fc.constant('give back' as const), which, isTwice }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('end' as const), process, which, isTwice }) },
  {
    weight: 12,
    arbitrary: fc.record({
      what: fc.constant('pause' as const),
      until: fc.constantFrom(...(Object.keys(PAUSES) as (keyof typeof PAUSES)[])),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('trouble' as const),
      kind: fc.constantFrom(...(Object.keys(TROUBLES) as (keyof typeof TROUBLES)[])),
    }),
  },
);
type Step = typeof anyStep extends fc.Arbitrary<infer TStep> ? TStep : never;

let trials = 0;

/** Sessions of two processes that come and go, and their requests. */
class Trial {
  readonly #prefix = `linked-${trials++}`;
  readonly #processes: SessionsOfAProcess[];
  readonly #sessions: Session[][];
  readonly #pending = new Map<Promise<void>, AbortController>();
  readonly #leases: RateLimitLease[] = [];

  constructor(whenUnavailable: 'deny' | 'allow' | 'local') {
    const options = { prefix: this.#prefix, commandTimeoutMs: 100, whenUnavailable };
    this.#processes = clients.map(({ client }) => new SessionsOfAProcess({ client, ...options }));
    this.#sessions = clients.map(() => [new Session(), new Session(), new Session()]);
  }

  async run(step: Step): Promise<void> {
    switch (step.what) {
      case 'ask':
        return this.#ask(step.process, step.which, step.way, step.maxWaitMs);
      case 'abort':
        return one([...this.#pending.values()], step.which)?.abort('gone');
      case 'give back':
        return end(this.#leases.splice(step.which % Math.max(1, this.#leases.length), 1)[0], step.isTwice);
      case 'end': {
        const sessions = this.#sessions[step.process]!;
        const [ended] = sessions.splice(step.which % sessions.length, 1, new Session());
        return end(ended, step.isTwice);
      }
      case 'pause':
        return PAUSES[step.until]();
      case 'trouble':
        await TROUBLES[step.kind]();
    }
  }

  /** How many sessions hold a permit of the server. */
  get active(): number {
    return this.#sessions.flat().filter(({ isActive }) => isActive).length;
  }

  /** All ends, everybody is answered, and the server counts nothing any more. */
  async end(): Promise<void> {
    proxy.delayMs = 0;
    for (const session of this.#sessions.flat()) session.dispose();
    this.#giveAllBack();
    // Who waits in his process for what another one holds gets it now, and gives it back.
    await Promise.all([...this.#pending.keys()].map((request) => request.then(() => this.#giveAllBack())));
    await Promise.all(this.#processes.map((one) => one.untilAnswered()));
    // What is given back may be on its way, and is tried again each second at least.
    const sinceMs = performance.now();
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    while ((await this.#left()) !== '' && performance.now() - sinceMs < 5_000) await after(1);
    expect(await this.#left()).toBe('');
    await Promise.all(this.#processes.map(({ shared }) => shared.dispose()));
    expect(await this.#left()).toBe('');
  }

  // oxlint-disable-next-line max-params -- who asks, and how
  #ask(asking: number, index: number, way: Way, maxWaitMs: number | undefined): void {
    const session = this.#sessions[asking]![index]!;
    const abort = new AbortController();
    const options = maxWaitMs === undefined ? {} : { maxWaitMs };
    const request = this.#processes[asking]!.ask(way, session, { ...options, signal: abort.signal }).then(
      (lease) => void this.#leases.push(lease),
      // A session that has ended before it was asked is told so.
      (error: unknown) => expect(session.isDisposed || error === 'gone').toBe(true),
    );
    this.#pending.set(request, abort);
    void request.finally(() => this.#pending.delete(request)).catch(() => undefined);
  }

  #giveAllBack(): void {
    for (const lease of this.#leases.splice(0)) lease.dispose();
  }

  /** Leases, waits and counters on the server. */
  async #left(): Promise<string> {
    const left = await admin.keys(`${this.#prefix}:v1:{*}:*`);
    for (const key of await admin.keys(`${this.#prefix}:v1:{*}`))
      for (const [field, value] of Object.entries(await admin.hgetall(key)))
        if (/concurrency:[uqw]$/.test(field) && value !== '0') left.push(`${key} ${field} ${value}`);
    return left.join(', ');
  }
}

function one<T>(all: readonly T[], index: number): T | undefined {
  return all[index % Math.max(1, all.length)];
}

function end(ending: { dispose(): void } | undefined, twice: boolean): void {
  ending?.dispose();
  if (twice) ending?.dispose();
}

test.each(['deny', 'allow', 'local'] as const)(
  'sessions whose permits the server counts, with %s: never more than the limit, and nothing is left behind',
  async (whenUnavailable) => {
    const property = fc.asyncProperty(
      fc.array(anyStep, { minLength: 1, maxLength: 60, size: 'max' }),
      boundedTrace(async (steps) => {
        const trial = new Trial(whenUnavailable);
        for (const step of steps) {
          // oxlint-disable-next-line no-await-in-loop -- one step after the other
          await trial.run(step);
          expect(trial.active).toBeLessThanOrEqual(PERMIT_LIMIT);
        }
        await trial.end();
      }),
    );
    // What fails waits long for what doesn't come: to look for the least of such traces would take minutes.
    await fc.assert(property, { numRuns: 12, endOnFailure: true });
  },
);

test('a session whose lease the server has forgotten is told, and gives nothing of others back at its end', async () => {
  const { shared, ask } = sessionsOf('forgotten');
  const session = new Session();
  await ask(session);
  const { signal } = session.lease as RemoteLease;
  await admin.flushall();
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  expect(signal.reason).toBeInstanceOf(LeaseLostError);
  const others = Array.from({ length: PERMIT_LIMIT }, () => new Session());
  for (const other of others) expect((await ask(other)).isAcquired).toBe(true);
  session.dispose();
  expect((await ask(new Session(), { maxWaitMs: 100 })).isAcquired).toBe(false);
  await shared.dispose();
});

function sessionsOf(prefix: string) {
  const own = new SessionsOfAProcess({ client: admin, prefix, commandTimeoutMs: 10_000 });
  return {
    shared: own.shared,
    ask: (session: Session, options = {}) => own.ask('alone', session, options),
  };
}
