import type { CanActivate, MessageEvent, PipeTransform } from '@nestjs/common';
import {
  BadRequestException,
  Body,
  Controller,
  Get,
  HttpException,
  Post,
  Query,
  Res,
  Sse,
  StreamableFile,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { Observable, Subject, throwError } from 'rxjs';
import { eventually } from '../fixtures/eventually.js';
import { Gate } from '../fixtures/gate.js';
import { exchange } from '../fixtures/http-client.js';
import type { Platform, TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import { WatchedLimiter } from '../fixtures/watched-limiter.js';

const gate = { current: new Gate() };
const events = { current: new Subject<MessageEvent>() };
const file = { current: new PassThrough() };
const manual = { current: (): void => undefined };

class RefusingGuard implements CanActivate {
  canActivate(): boolean {
    throw new UnauthorizedException();
  }
}

class RefusingPipe implements PipeTransform {
  transform(): never {
    throw new BadRequestException();
  }
}

@Controller()
@EnableRateLimiting('slots')
class WorkController {
  @Get('slow')
  async slow(): Promise<string> {
    await gate.current.pass();
    return 'done';
  }

  @Post('slow')
  async slowPost(@Body() _body: unknown): Promise<string> {
    await gate.current.pass();
    return 'done';
  }

  @Get('quick')
  quick(): string {
    return 'done';
  }

  @Sse('events')
  events(): Observable<MessageEvent> {
    return events.current;
  }

  @Get('file')
  file(): StreamableFile {
    return new StreamableFile(file.current);
  }

  @Get('file-by-handler')
  @EnableRateLimiting('slots', { heldUntil: 'handler' })
  fileByHandler(): StreamableFile {
    return this.file();
  }

  @Get('guarded-file-by-handler')
  @EnableRateLimiting('slots', { phase: 'guard', heldUntil: 'handler' })
  guardedFileByHandler(): StreamableFile {
    return this.file();
  }

  @Get('slow-by-handler')
  @EnableRateLimiting('slots', { heldUntil: 'handler' })
  slowByHandler(): Promise<string> {
    return this.slow();
  }

  @Get('manual')
  manual(@Res() response: { raw?: ServerResponse }): void {
    const raw = response.raw ?? (response as ServerResponse);
    manual.current = () => raw.end('late');
  }

  @Get('throws')
  throws(): string {
    throw new Error('broken');
  }

  @Get('rejects')
  async rejects(): Promise<string> {
    await Promise.resolve();
    throw new HttpException('teapot', 418);
  }

  @Get('throws-text')
  throwsText(): string {
    // oxlint-disable-next-line typescript/only-throw-error, eslint/no-throw-literal
    throw 'text';
  }

  @Get('failing-stream')
  failingStream(): Observable<string> {
    return throwError(() => new Error('broken'));
  }

  @Get('guarded')
  @EnableRateLimiting('slots', { phase: 'guard' })
  @UseGuards(RefusingGuard)
  guarded(): string {
    return 'never';
  }

  @Get('piped')
  @EnableRateLimiting('slots', { phase: 'guard' })
  piped(@Query('q', RefusingPipe) _q: string): string {
    return 'never';
  }

  @Get('piped-later')
  pipedLater(@Query('q', RefusingPipe) _q: string): string {
    return 'never';
  }
}

async function start(platform: Platform, slots: WatchedLimiter): Promise<TestApp> {
  gate.current = new Gate();
  events.current = new Subject();
  file.current = new PassThrough();
  return startApp(platform, {
    imports: [RateLimitingModule.forRoot({ policies: { slots: slots.policy } })],
    controllers: [WorkController],
  });
}

describe.each(PLATFORMS)('a lease on $name', (platform) => {
  afterEach(stopApps);

  it('is held while the handler works, and refuses others meanwhile', async () => {
    const slots = new WatchedLimiter(1);
    const app = await start(platform, slots);

    const first = app.open('/slow');
    await eventually(() => gate.current.waiting === 1);
    expect(slots.held).toBe(1);
    const refused = await app.get('/slow');
    expect(refused.status).toBe(429);
    expect(refused.headers).not.toHaveProperty('retry-after');
    expect(refused.headers).toMatchObject({
      ratelimit: '"slots";r=0',
      'ratelimit-policy': '"slots";q=1;qu="concurrent-requests"',
    });

    gate.current.open();
    expect((await first.answer).status).toBe(200);
    await eventually(() => slots.held === 0);
  });

  it.each([
    ['/throws', 500],
    ['/rejects', 418],
    ['/throws-text', 500],
    ['/failing-stream', 500],
    ['/guarded', 401],
    ['/piped', 400],
    ['/piped-later', 400],
    ['/quick', 200],
  ])('goes back after %s, ten times', async (path, status) => {
    const slots = new WatchedLimiter(1);
    const app = await start(platform, slots);
    for (let round = 0; round < 10; round++) {
      expect((await app.get(path)).status).toBe(status);
      await eventually(() => slots.held === 0);
    }
    expect(slots.statistics.totalSuccessfulLeases).toBe(10);
  });

  it('is held by a POST whose body was read, until its handler ends', async () => {
    const slots = new WatchedLimiter(1);
    const app = await start(platform, slots);
    const first = exchange(app.port, { method: 'POST', path: '/slow', body: { some: 'body' } });
    await eventually(() => gate.current.waiting === 1);
    expect(slots.held).toBe(1);
    expect((await app.send({ method: 'POST', path: '/slow', body: {} })).status).toBe(429);
    gate.current.open();
    expect((await first.answer).status).toBe(201);
    await eventually(() => slots.held === 0);
  });

  it('is held by a handler that works on after its client left', async () => {
    const slots = new WatchedLimiter(1);
    const app = await start(platform, slots);
    const first = app.open('/slow');
    await eventually(() => gate.current.waiting === 1);
    first.abort();
    // The server learns of it only after the client: a second request goes through the same socket queue.
    expect((await app.get('/quick')).status).toBe(429);
    expect(slots.held).toBe(1);
    gate.current.open();
    await eventually(() => slots.held === 0);
  });

  it('is held by server-sent events until the client leaves', async () => {
    const slots = new WatchedLimiter(1);
    const app = await start(platform, slots);
    const stream = app.open('/events');
    await eventually(() => events.current.observed);
    events.current.next({ data: 'one' });
    const head = await stream.head;
    expect(head.statusCode).toBe(200);
    expect(head.headers.ratelimit).toBe('"slots";r=0');
    expect((await app.get('/quick')).status).toBe(429);
    stream.abort();
    await eventually(() => slots.held === 0);
    expect((await app.get('/quick')).status).toBe(200);
  });

  it('is held by server-sent events until they complete', async () => {
    const slots = new WatchedLimiter(1);
    const app = await start(platform, slots);
    const stream = app.open('/events');
    await eventually(() => events.current.observed);
    events.current.complete();
    await stream.answer;
    await eventually(() => slots.held === 0);
  });

  it('is held by a file until its last byte', async () => {
    const slots = new WatchedLimiter(1);
    const app = await start(platform, slots);
    const download = app.open('/file');
    file.current.write('first');
    await download.head;
    expect((await app.get('/quick')).status).toBe(429);
    file.current.end('last');
    expect((await download.answer).body).toBe('firstlast');
    await eventually(() => slots.held === 0);
  });

  it.each(['/file-by-handler', '/guarded-file-by-handler'])(
    'is held until the handler has ended where that is said: %s',
    async (path) => {
      const slots = new WatchedLimiter(1);
      const app = await start(platform, slots);
      const download = app.open(path);
      file.current.write('first');
      await download.head;
      await eventually(() => slots.held === 0);
      expect((await app.get('/quick')).status).toBe(200);
      const slow = app.open('/slow-by-handler');
      await eventually(() => gate.current.waiting === 1);
      expect((await app.get('/quick')).status).toBe(429);
      gate.current.open();
      await slow.answer;
      file.current.end('last');
      expect((await download.answer).body).toBe('firstlast');
      await eventually(() => slots.held === 0);
    },
  );

  it('is held by a manual response until it is sent', async () => {
    const slots = new WatchedLimiter(1);
    const app = await start(platform, slots);
    manual.current = () => undefined;
    const idle = manual.current;
    const late = app.open('/manual');
    await eventually(() => manual.current !== idle);
    expect((await app.get('/quick')).status).toBe(429);
    manual.current();
    expect((await late.answer).body).toBe('late');
    await eventually(() => slots.held === 0);
  });
});
