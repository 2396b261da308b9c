import { Controller, Get, Logger, StreamableFile } from '@nestjs/common';
import type { Clock } from '@ratelease/limiters';
import { systemClock } from '@ratelease/limiters';
import { EnableRateLimiting, RateLimitingModule, RateLimitingService, byHeader } from '@ratelease/nestjs';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '../fixtures/eventually.js';
import type { Platform, TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

// A soak: it takes minutes on a quiet machine.
jest.setTimeout(3_600_000);

const REQUESTS = Number(process.env['RATELEASE_SOAK_REQUESTS'] ?? 200_000);
const REFUSALS = 5 * REQUESTS;
const LIVES = Math.ceil(REQUESTS / 1_000);
const CONNECTIONS = 48;
const STATUS_LINE = 'HTTP/1.1 ';
const PATHS = ['rated', 'keyed', 'slots', 'late', 'file', 'free', 'nowhere', 'throws'];

@Controller()
class SoakController {
  @Get('rated')
  @EnableRateLimiting('rated')
  rated(): string {
    return 'rated';
  }

  @Get('keyed')
  @EnableRateLimiting(['keyed', 'rated'])
  keyed(): string {
    return 'keyed';
  }

  @Get('slots')
  @EnableRateLimiting('slots')
  async slots(): Promise<string> {
    await new Promise((resolve) => setImmediate(resolve));
    return 'slots';
  }

  @Get('late')
  @EnableRateLimiting(['keyed', 'slots'], { phase: 'handler', maxWaitMs: 5 })
  async late(): Promise<string> {
    return this.slots();
  }

  @Get('file')
  @EnableRateLimiting('slots', { phase: 'guard' })
  file(): StreamableFile {
    return new StreamableFile(Readable.from([Buffer.alloc(20_000), Buffer.alloc(20_000)]), {
      length: 40_000,
    });
  }

  @Get('free')
  free(): string {
    return 'free';
  }

  @Get('throws')
  @EnableRateLimiting('slots')
  throws(): never {
    throw new Error('as handlers do');
  }
}

/** The clock of the system, which knows how many timers are set. */
class CountingClock implements Clock {
  pending = 0;

  now(): number {
    return systemClock.now();
  }

  setTimer(callback: () => void, delayMs: number, options?: { background?: boolean }): { cancel(): void } {
    this.pending++;
    let isSet = true;
    const end = (): void => {
      if (isSet) this.pending--;
      isSet = false;
    };
    const run = (): void => {
      end();
      callback();
    };
    const timer = systemClock.setTimer(run, delayMs, options);
    return {
      cancel: () => {
        end();
        timer.cancel();
      },
    };
  }
}

/** A generator of its own seed, so that a run that fails can be had again. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Sends requests on one connection, several at a time, and breaks it now and then. */
class Client {
  readonly #port: number;
  readonly #random: () => number;

  constructor(port: number, random: () => number) {
    this.#port = port;
    this.#random = random;
  }

  async run(next: (count: number) => number): Promise<void> {
    let socket: Socket | undefined;
    for (;;) {
      const count = next(1 + Math.floor(this.#random() * 6));
      if (count === 0) break;
      if (socket === undefined || socket.destroyed) socket = await this.#open();
      const isAborted = this.#random() < 0.08;
      await this.#exchange(socket, count, isAborted);
    }
    socket?.destroy();
  }

  async #open(): Promise<Socket> {
    const socket = connect(this.#port, '127.0.0.1');
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    return socket;
  }

  #exchange(socket: Socket, count: number, isAborted: boolean): Promise<void> {
    const lines = Array.from({ length: count }, () => this.#line());
    return new Promise((resolve) => {
      let answers = 0;
      let rest = '';
      const end = (): void => {
        socket.off('data', read).off('close', end);
        resolve();
      };
      const read = (chunk: Buffer): void => {
        const parts = (rest + chunk.toString('latin1')).split(STATUS_LINE);
        answers += parts.length - 1;
        // A status line may come in two pieces.
        rest = parts.at(-1)!.slice(1 - STATUS_LINE.length);
        if (answers >= count && !isAborted) setImmediate(end);
      };
      socket.on('data', read).once('close', end);
      socket.write(lines.join(''));
      if (isAborted) setTimeout(() => socket.destroy(), Math.floor(this.#random() * 4));
    });
  }

  #line(): string {
    const path = PATHS[Math.floor(this.#random() * PATHS.length)]!;
    const key = Math.floor(this.#random() * 500);
    return `GET /${path} HTTP/1.1\r\nHost: x\r\nX-Key: ${key}\r\n\r\n`;
  }
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

async function heapBytes(): Promise<number> {
  for (let turn = 0; turn < 5; turn++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return process.memoryUsage().heapUsed;
}

function storm(app: TestApp, total: number, random: () => number): Promise<void[]> {
  let left = total;
  const next = (count: number): number => {
    const taken = Math.min(count, left);
    left -= taken;
    return taken;
  };
  return Promise.all(Array.from({ length: CONNECTIONS }, () => new Client(app.port, random).run(next)));
}

const limit = { algorithm: 'fixedWindow', permitLimit: 100, windowMs: 50 } as const;

const start = (platform: Platform, slots: WatchedLimiter, clock: Clock): Promise<TestApp> =>
  startApp(platform, {
    imports: [
      RateLimitingModule.forRoot({
        clock,
        global: { algorithm: 'concurrency', permitLimit: 100, queueLimit: 100 },
        policies: {
          slots: slots.policy,
          rated: limit,
          keyed: { ...limit, permitLimit: 3, queueLimit: 2, key: byHeader('x-key') },
        },
      }),
    ],
    controllers: [SoakController],
  });

describe.each(PLATFORMS)('a soak on $name', (platform) => {
  afterEach(stopApps);

  it(`ends as it began, after ${REQUESTS} requests with aborts and pipelining`, async () => {
    const clock = new CountingClock();
    const slots = new WatchedLimiter(4, 40);
    const app = await start(platform, slots, clock);
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    const server = app.app.getHttpServer() as NodeJS.EventEmitter;
    const listeners = (): number[] =>
      [server, process].flatMap((emitter) =>
        emitter.eventNames().map((name) => emitter.listenerCount(name as string)),
      );
    const random = randomNumbers(11);
    await storm(app, Math.ceil(REQUESTS / 10), random);
    await app.isDeserted();
    const heapBefore = await heapBytes();
    const listenersBefore = listeners();

    await storm(app, REQUESTS, random);
    await app.isDeserted();
    await eventually(() => slots.held === 0 && slots.queued === 0);
    const service = app.app.get(RateLimitingService);
    await eventually(() => service.overview().every(({ inUse, queued }) => inUse === 0 && queued === 0));
    expect(listeners()).toEqual(listenersBefore);
    // One for the idle partitions of each policy; none for requests.
    expect(clock.pending).toBeLessThanOrEqual(service.overview().length);
    expect(warnings).toEqual([]);
    process.off('warning', note);
    const heapAfter = await heapBytes();
    process.stdout.write(
      `Soak on ${platform.name}: ${REQUESTS} requests, heap ${(heapBefore / 1e6).toFixed(1)} to ${(heapAfter / 1e6).toFixed(1)} MB.\n`,
    );
    expect(heapAfter).toBeLessThan(heapBefore * 1.05 + 1e6);
    expect(slots.statistics.totalSuccessfulLeases).toBeGreaterThan(REQUESTS / 20);
    expect(slots.statistics.totalFailedLeases).toBeGreaterThan(0);
  });

  it(`of applications: ${LIVES} of them begin and end, and leave nothing`, async () => {
    const slots = new WatchedLimiter(4, 40);
    const clock = new CountingClock();
    const oneLife = async (): Promise<void> => {
      const app = await start(platform, slots, clock);
      await storm(app, 100, randomNumbers(5));
      await app.isDeserted();
      await stopApps();
      await eventually(() => slots.held === 0);
      expect(clock.pending).toBe(0);
    };
    for (let life = 0; life < LIVES / 10; life++) await oneLife();
    const heapBefore = await heapBytes();
    for (let life = 0; life < LIVES; life++) await oneLife();
    const heapAfter = await heapBytes();
    process.stdout.write(
      `Applications on ${platform.name}: heap ${(heapBefore / 1e6).toFixed(1)} to ${(heapAfter / 1e6).toFixed(1)} MB.\n`,
    );
    expect(heapAfter).toBeLessThan(heapBefore * 1.05 + 1e6);
  });

  it(`of refusals: ${REFUSALS} keys make one line of the log per interval`, async () => {
    const app = await startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({
          policies: {
            flooded: { ...limit, windowMs: 3_600_000, maxPartitions: 1_000, key: byHeader('x-key') },
          },
        }),
      ],
    });
    const service = app.app.get(RateLimitingService);
    // The boot has its own lines.
    const lines = ['debug', 'warn', 'log', 'error'].map((level) =>
      jest.spyOn(Logger.prototype, level as 'warn').mockImplementation(),
    );
    const begin = performance.now();
    for (let key = 0; key < REFUSALS; key++) {
      const context = service.createContext({ headers: { 'x-key': `k${key}` } });
      const lease = await service.acquire('flooded', context);
      expect(lease.isAcquired).toBe(key < 1_000);
    }
    const intervals = Math.ceil((performance.now() - begin) / 10_000);
    const calls = lines.flatMap(({ mock }) => mock.calls);
    for (const line of lines) line.mockRestore();
    // One of the level debug, and one that warns of the number of keys.
    expect(calls.length).toBeLessThanOrEqual(2 * (intervals + 1));
    expect(service.overview()).toMatchObject([{ partitions: 1_000, refused: REFUSALS - 1_000 }]);
  });
});
