import type { CanActivate } from '@nestjs/common';
import { Controller, Get, StreamableFile, UseGuards } from '@nestjs/common';
import { EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import type { Platform, TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gates = { guard: new Gate(), handler: new Gate() };
const started: string[] = [];
const PIECE = 50_000;

class SlowGuard implements CanActivate {
  async canActivate(): Promise<boolean> {
    await gates.guard.pass();
    return true;
  }
}

class ClosedGuard implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

@Controller()
class PipelineController {
  @Get('late')
  @EnableRateLimiting('slots')
  @UseGuards(SlowGuard)
  late(): string {
    started.push('late');
    return 'late';
  }

  @Get('slow')
  @EnableRateLimiting('slots')
  async slow(): Promise<string> {
    started.push('slow');
    await gates.handler.pass();
    return 'slow';
  }

  @Get('free')
  async free(): Promise<string> {
    await gates.guard.pass();
    return 'free';
  }

  @Get('early')
  @EnableRateLimiting('slots', { phase: 'guard' })
  early(): string {
    started.push('early');
    return 'early';
  }

  @Get('forbidden')
  @EnableRateLimiting('others', { phase: 'guard' })
  @UseGuards(ClosedGuard)
  forbidden(): string {
    return 'never';
  }

  @Get('file')
  @EnableRateLimiting('slots', { phase: 'guard' })
  file(): StreamableFile {
    started.push('file');
    const pieces = [1, 2, 3].map(() => Buffer.alloc(PIECE, 'x'));
    return new StreamableFile(Readable.from(pieces), { length: 3 * PIECE });
  }

  @Get('other-file')
  @EnableRateLimiting('others')
  otherFile(): StreamableFile {
    return this.file();
  }
}

/** Sends requests in one piece, and notes what comes back. */
class Pipeline {
  received = '';
  readonly #socket: Socket;

  constructor(port: number, paths: readonly string[]) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.on('data', (chunk: Buffer) => (this.received += chunk.toString('latin1')));
    this.#socket.on('error', () => undefined);
    this.#socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
  }

  get statuses(): string[] {
    return [...this.received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status!);
  }

  end(): void {
    this.#socket.destroy();
  }
}

describe.each(PLATFORMS)('requests behind others on their connection on $name', (platform: Platform) => {
  let slots: WatchedLimiter;
  let others: WatchedLimiter;
  let app: TestApp;
  const pipelines: Pipeline[] = [];
  const send = (...paths: string[]): Pipeline => {
    const pipeline = new Pipeline(app.port, paths);
    pipelines.push(pipeline);
    return pipeline;
  };

  beforeEach(async () => {
    gates.guard = new Gate();
    gates.handler = new Gate();
    started.length = 0;
    slots = new WatchedLimiter(1, 10);
    others = new WatchedLimiter(1, 10);
    app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ policies: { slots: slots.policy, others: others.policy } })],
      controllers: [PipelineController],
    });
  });
  afterEach(async () => {
    for (const pipeline of pipelines.splice(0)) pipeline.end();
    await stopApps();
  });

  it('hold no permit when their answer is ready, which those before might wait for', async () => {
    const pipeline = send('/late', '/early');
    await eventually(() => slots.statistics.totalSuccessfulLeases === 1 && slots.held === 0);
    expect(started).toEqual(['early']);
    expect(pipeline.statuses).toEqual([]);
    gates.guard.open();
    await eventually(() => pipeline.statuses.length === 2);
    expect(pipeline.statuses).toEqual(['200', '200']);
    await eventually(() => slots.held === 0);
  });

  it('hold their permit while a stream of theirs waits, until one before needs it', async () => {
    const pipeline = send('/late', '/file');
    await eventually(() => started.includes('file'));
    const waiting = app.open('/early');
    await eventually(() => slots.queued === 1);
    expect(slots.held).toBe(1);
    waiting.abort();
    await eventually(() => slots.queued === 0);
    gates.guard.open();
    await eventually(
      () => pipeline.received.length > 3 * PIECE && pipeline.received.endsWith('x'.repeat(PIECE)),
    );
    expect(pipeline.statuses).toEqual(['200', '200']);
    await eventually(() => slots.held === 0);
  });

  it('give their permit up at the end of their handler while one before waits', async () => {
    send('/slow');
    await eventually(() => slots.held === 1);
    const pipeline = send('/slow', '/other-file');
    await eventually(() => slots.queued === 1 && others.statistics.totalSuccessfulLeases === 1);
    await eventually(() => others.held === 0);
    expect(pipeline.statuses).toEqual([]);
    gates.handler.open();
    await eventually(() => pipeline.statuses.length === 2);
    await eventually(() => slots.held === 0);
  });

  it('give it up when one before, that waits already, comes to its turn', async () => {
    send('/slow');
    await eventually(() => slots.held === 1);
    const pipeline = send('/free', '/slow', '/other-file');
    await eventually(() => gates.guard.waiting === 1 && slots.queued === 1 && started.includes('file'));
    expect(others.held).toBe(1);
    gates.guard.open();
    await eventually(() => others.held === 0);
    expect(slots.queued).toBe(1);
    gates.handler.open();
    await eventually(() => pipeline.statuses.length === 3);
  });

  it('hold nothing where a later guard has answered', async () => {
    const pipeline = send('/slow', '/forbidden');
    await eventually(() => others.statistics.totalSuccessfulLeases === 1);
    await eventually(() => others.held === 0);
    expect(pipeline.statuses).toEqual([]);
    gates.handler.open();
    await eventually(() => pipeline.statuses.length === 2);
    expect(pipeline.statuses).toEqual(['200', '403']);
  });

  it('run as many at a time as there are permits, and end with their connection', async () => {
    const wide = new WatchedLimiter(2, 10);
    const own = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ policies: { slots: wide.policy, others: others.policy } })],
      controllers: [PipelineController],
    });
    const pipeline = new Pipeline(own.port, Array<string>(5).fill('/slow'));
    await eventually(() => wide.held === 2 && wide.queued === 3);
    pipeline.end();
    await eventually(() => wide.queued === 0);
    gates.handler.open();
    await eventually(() => wide.held === 0);
    expect(started).toEqual(['slow', 'slow']);
  });
});
