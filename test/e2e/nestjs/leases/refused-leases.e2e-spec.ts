import type { WebSocketAdapter } from '@nestjs/common';
import { Controller, Get, Logger, UseInterceptors } from '@nestjs/common';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import type { MetadataName, RateLimiterStatistics } from '@ratelease/limiters';
import { RateLimiter, RateLimitLease, RateLimitPartition } from '@ratelease/limiters';
import type { OnRejected } from '@ratelease/nestjs';
import {
  ConcurrencyLimit,
  DelegatedRateLimiterPolicy,
  EnableRateLimiting,
  RateLimitingInterceptor,
  RateLimitingModule,
} from '@ratelease/nestjs';
import { eventually } from '../fixtures/eventually.js';
import { SOCKET_KINDS, leaveAll } from '../fixtures/socket-clients.js';
import type { TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const ends = { refused: 0, granted: 0, made: 0 };
const failing = { current: false };

/** A lease of an application's own limiter, which has something to end, granted or not. */
class OwnLease extends RateLimitLease {
  readonly #isAcquired: boolean;

  constructor(isAcquired: boolean) {
    super();
    this.#isAcquired = isAcquired;
    ends.made++;
  }

  override get isAcquired(): boolean {
    return this.#isAcquired;
  }

  override get metadataNames(): Iterable<string> {
    return [];
  }

  override getMetadata<T>(name: MetadataName<T>): T | undefined;
  override getMetadata(name: string): unknown;
  override getMetadata(): unknown {
    return undefined;
  }

  override dispose(): void {
    ends[this.#isAcquired ? 'granted' : 'refused']++;
    if (failing.current) throw new Error('the end fails');
  }
}

class OwnLimiter extends RateLimiter {
  readonly #grants: boolean;
  readonly #isLate: boolean;

  constructor(grants: boolean, isLate: boolean) {
    super();
    this.#grants = grants;
    this.#isLate = isLate;
  }

  override get idleDurationMs(): number | null {
    return null;
  }

  override getStatistics(): RateLimiterStatistics | null {
    return null;
  }

  override dispose(): void {
    // It has nothing.
  }

  protected override attemptAcquireCore(): RateLimitLease {
    return new OwnLease(this.#grants);
  }

  protected override async acquireCore(): Promise<RateLimitLease> {
    if (this.#isLate) await new Promise((resolve) => setImmediate(resolve));
    return new OwnLease(this.#grants);
  }
}

const own = (grants: boolean, onRejected?: OnRejected, isLate = false) =>
  Object.assign(
    new DelegatedRateLimiterPolicy(() => RateLimitPartition.get('all', () => new OwnLimiter(grants, isLate))),
    { onRejected },
  );
const hanging = { signals: [] as AbortSignal[] };

const POLICIES = {
  plain: own(false),
  late: own(false, undefined, true),
  told: own(false, async () => {
    await new Promise((resolve) => setImmediate(resolve));
    expect(ends.refused).toBe(0);
  }),
  'callback fails': own(false, () => {
    throw new Error('no answer');
  }),
  'callback answers': own(false, (_rejection, { response }) => (response.raw ?? response).end('answered')),
  'callback hangs': own(false, (_rejection, _context, signal) => {
    hanging.signals.push(signal);
    return new Promise(() => undefined);
  }),
  shadow: Object.assign(own(false), { shadow: true }),
  grants: own(true),
  many: { algorithm: 'concurrency', permitLimit: 100 },
} as const;

@Controller()
class OwnController {
  @Get('plain')
  @EnableRateLimiting('plain')
  plain(): string {
    return 'page';
  }

  @Get('guard')
  @EnableRateLimiting('plain', { phase: 'guard' })
  guard(): string {
    return 'page';
  }

  @Get('handler')
  @EnableRateLimiting('plain', { phase: 'handler' })
  handler(): string {
    return 'page';
  }

  @Get('late')
  @EnableRateLimiting('late')
  late(): string {
    return 'page';
  }

  @Get('beside')
  @EnableRateLimiting(['many', 'plain'])
  beside(): string {
    return 'page';
  }

  @Get('beside-late')
  @EnableRateLimiting(['many', 'late'])
  besideLate(): string {
    return 'page';
  }

  @Get('told')
  @EnableRateLimiting('told')
  told(): string {
    return 'page';
  }

  @Get('callback-fails')
  @EnableRateLimiting('callback fails')
  callbackFails(): string {
    return 'page';
  }

  @Get('callback-answers')
  @EnableRateLimiting('callback answers')
  callbackAnswers(): string {
    return 'page';
  }

  @Get('callback-hangs')
  @EnableRateLimiting('callback hangs', { phase: 'guard' })
  callbackHangs(): string {
    return 'page';
  }

  @Get('callback-hangs-later')
  @EnableRateLimiting('callback hangs')
  callbackHangsLater(): string {
    return 'page';
  }

  @Get('shadow')
  @EnableRateLimiting('shadow')
  shadow(): string {
    return 'page';
  }

  @Get('grants')
  @EnableRateLimiting('grants', { phase: 'guard' })
  @ConcurrencyLimit(5, { when: () => true })
  grants(): string {
    return 'page';
  }
}

@WebSocketGateway()
@UseInterceptors(RateLimitingInterceptor)
class OwnGateway {
  @SubscribeMessage('say')
  @EnableRateLimiting('plain')
  say(): string {
    return 'said';
  }
}

describe.each(PLATFORMS)('the leases of an application’s own limiter on $name', (platform) => {
  beforeEach(() => {
    Object.assign(ends, { refused: 0, granted: 0, made: 0 });
    hanging.signals = [];
    failing.current = false;
  });
  afterEach(async () => {
    leaveAll();
    await stopApps();
    jest.restoreAllMocks();
  });

  const start = (): Promise<TestApp> =>
    startApp(platform, {
      imports: [RateLimitingModule.forRoot({ policies: POLICIES })],
      controllers: [OwnController],
    });

  it.each([
    ['/plain', 429],
    ['/guard', 429],
    ['/handler', 429],
    ['/late', 429],
    ['/beside', 429],
    ['/beside-late', 429],
    ['/told', 429],
    ['/callback-fails', 500],
    ['/callback-answers', 429],
    ['/shadow', 200],
  ])('end once when they are refused: %s', async (path, status) => {
    const app = await start();
    expect((await app.get(path)).status).toBe(status);
    await eventually(() => ends.refused > 0);
    expect(ends).toEqual({ refused: 1, granted: 0, made: 1 });
  });

  it.each(['/callback-hangs', '/callback-hangs-later'])(
    'end when the client leaves, where the callback never ends: %s',
    async (path) => {
      const app = await start();
      const asked = app.open(path);
      await eventually(() => hanging.signals.length === 1);
      expect(ends.refused).toBe(0);
      asked.abort();
      await eventually(() => ends.refused === 1);
      expect(hanging.signals[0]?.aborted).toBe(true);
    },
  );

  it('keep nothing else from its end when their own fails, and the process goes on', async () => {
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    failing.current = true;
    const app = await start();
    expect(await app.statuses('/grants', 12)).toEqual(Array(12).fill(200));
    expect((await app.get('/plain')).status).toBe(429);
    await eventually(() => ends.granted === 12 && ends.refused === 1);
    expect(errors).toHaveBeenCalledWith(
      expect.objectContaining({
        message: 'A lease failed to end.',
        policy: 'grants',
        error: 'the end fails',
      }),
    );
    expect(errors.mock.calls.length).toBeLessThan(12);
  });
});

describe('the leases of an application’s own limiter on a gateway', () => {
  afterEach(async () => {
    leaveAll();
    await stopApps();
  });

  it.each(SOCKET_KINDS)('end once when they are refused: $name', async ({ adapter, connect }) => {
    Object.assign(ends, { refused: 0, granted: 0, made: 0 });
    failing.current = false;
    const { app } = await startApp(
      PLATFORMS[0]!,
      { imports: [RateLimitingModule.forRoot({ policies: POLICIES })], providers: [OwnGateway] },
      (started) => started.useWebSocketAdapter(new adapter(started) as WebSocketAdapter),
    );
    (await connect(app)).say('say');
    await eventually(() => ends.refused > 0);
    expect(ends).toEqual({ refused: 1, granted: 0, made: 1 });
  });
});
