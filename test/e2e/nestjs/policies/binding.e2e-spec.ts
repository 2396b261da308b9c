import type {
  CallHandler,
  CanActivate,
  ExecutionContext,
  INestApplication,
  NestInterceptor,
} from '@nestjs/common';
import { Controller, Get, SetMetadata, UseGuards, UseInterceptors } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, ApplicationConfig, Reflector } from '@nestjs/core';
import type { RateLimitingContext, RateLimitingModuleOptions } from '@ratelease/nestjs';
import { FakeClock } from '@ratelease/limiters/testing';
import {
  EnableRateLimiting,
  RateLimitingGuard,
  RateLimitingInterceptor,
  RateLimitingModule,
} from '@ratelease/nestjs';
import type { Observable } from 'rxjs';
import type { Platform, TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const steps: string[] = [];

class AppGuard implements CanActivate {
  canActivate(): boolean {
    steps.push('app guard');
    return true;
  }
}

class AppInterceptor implements NestInterceptor {
  intercept(_execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    steps.push('app interceptor');
    return next.handle();
  }
}

class OwnGuard extends AppGuard {
  override canActivate(): boolean {
    steps.push('own guard');
    return true;
  }
}

class OwnInterceptor implements NestInterceptor {
  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    steps.push(`own interceptor ${String(new Reflector().get('mark', execution.getHandler()))}`);
    return next.handle();
  }
}

@Controller('plain')
class PlainController {
  @Get('guard')
  @EnableRateLimiting('window', { phase: 'guard' })
  @UseGuards(OwnGuard)
  @UseInterceptors(OwnInterceptor)
  @SetMetadata('mark', 7)
  guard(): string {
    return this.word('guard');
  }

  @Get('interceptor')
  @EnableRateLimiting('window')
  @UseGuards(OwnGuard)
  @UseInterceptors(OwnInterceptor)
  @SetMetadata('mark', 7)
  interceptor(): string {
    return this.word('interceptor');
  }

  @Get('slots')
  @EnableRateLimiting('slots')
  @UseGuards(OwnGuard)
  @UseInterceptors(OwnInterceptor)
  @SetMetadata('mark', 7)
  slots(): string {
    return this.word('slots');
  }

  @Get('free')
  free(): string {
    return 'free';
  }

  word(text: string): string {
    steps.push('handler');
    return text;
  }
}

@Controller('classy')
@UseGuards(OwnGuard)
@UseInterceptors(OwnInterceptor)
@SetMetadata('mark', 7)
class ClassyController {
  @Get('guard')
  @EnableRateLimiting('window', { phase: 'guard' })
  @SetMetadata('mark', 7)
  guard(): string {
    steps.push('handler');
    return 'guard';
  }

  @Get('slots')
  @EnableRateLimiting('slots')
  @SetMetadata('mark', 7)
  slots(): string {
    steps.push('handler');
    return 'slots';
  }
}

@Controller('twice')
@UseGuards(RateLimitingGuard)
@UseInterceptors(RateLimitingInterceptor)
class TwiceController {
  @Get('guard')
  @EnableRateLimiting('few', { phase: 'guard' })
  @UseGuards(RateLimitingGuard)
  guard(): string {
    return 'guard';
  }

  @Get('interceptor')
  @EnableRateLimiting('few')
  @UseInterceptors(RateLimitingInterceptor)
  interceptor(): string {
    return 'interceptor';
  }
}

const noted = ({ type }: RateLimitingContext): boolean => {
  steps.push(type === 'http' ? 'limit' : 'wrong type');
  return true;
};

const POLICIES: RateLimitingModuleOptions['policies'] = {
  window: { algorithm: 'fixedWindow', permitLimit: 100, windowMs: 60_000, key: (c) => noted(c) },
  slots: { algorithm: 'concurrency', permitLimit: 100, key: (c) => noted(c) },
  few: { algorithm: 'fixedWindow', permitLimit: 10, windowMs: 60_000 },
};

const BEFORE = [
  { provide: APP_GUARD, useClass: AppGuard },
  { provide: APP_INTERCEPTOR, useClass: AppInterceptor },
];

async function stepsOf(app: TestApp, path: string): Promise<string[]> {
  steps.length = 0;
  expect((await app.get(path)).status).toBe(200);
  return [...steps];
}

describe.each(PLATFORMS)('the binding on $name', (platform) => {
  afterEach(stopApps);

  const start = (own: object[] = []) =>
    startApp(platform, {
      imports: [RateLimitingModule.forRoot({ policies: POLICIES })],
      controllers: [PlainController, ClassyController],
      providers: own as never,
    });

  it('asks in the guard phase before the guards of class and method, in the other after them', async () => {
    const app = await start();
    const rest = ['own interceptor 7', 'handler'];
    expect(await stepsOf(app, '/plain/guard')).toEqual(['limit', 'own guard', ...rest]);
    expect(await stepsOf(app, '/classy/guard')).toEqual(['limit', 'own guard', ...rest]);
    expect(await stepsOf(app, '/plain/interceptor')).toEqual(['own guard', 'limit', ...rest]);
    expect(await stepsOf(app, '/plain/slots')).toEqual(['own guard', 'limit', ...rest]);
    expect(await stepsOf(app, '/classy/slots')).toEqual(['own guard', 'limit', ...rest]);
  });

  it('asks after what the application runs everywhere before', async () => {
    const app = await start(BEFORE);
    const rest = ['own interceptor 7', 'handler'];
    expect(await stepsOf(app, '/plain/guard')).toEqual([
      'app guard',
      'limit',
      'own guard',
      'app interceptor',
      ...rest,
    ]);
    for (const path of ['/plain/interceptor', '/plain/slots', '/classy/slots']) {
      expect(await stepsOf(app, path)).toEqual([
        'app guard',
        'own guard',
        'app interceptor',
        'limit',
        ...rest,
      ]);
    }
  });

  it('asks before what the application runs everywhere behind', async () => {
    const app = await startApp(
      platform,
      {
        imports: [RateLimitingModule.forRoot({ policies: POLICIES })],
        controllers: [PlainController, ClassyController],
      },
      (started) => started.useGlobalGuards(new AppGuard()).useGlobalInterceptors(new AppInterceptor()),
    );
    const rest = ['app interceptor', 'own interceptor 7', 'handler'];
    expect(await stepsOf(app, '/plain/guard')).toEqual(['limit', 'app guard', 'own guard', ...rest]);
    for (const path of ['/plain/interceptor', '/plain/slots', '/classy/slots']) {
      expect(await stepsOf(app, path)).toEqual(['app guard', 'own guard', 'limit', ...rest]);
    }
  });

  it('is the application’s own: the classes stay as they were written', async () => {
    const limited = await start();
    const free = await startApp(platform, { controllers: [PlainController] });
    expect(await stepsOf(free, '/plain/guard')).toEqual(['own guard', 'own interceptor 7', 'handler']);
    expect(await stepsOf(limited, '/plain/guard')).toContain('limit');
    expect((await free.get('/plain/guard')).headers).not.toHaveProperty('ratelimit');
  });

  it.each([
    ['by the classes', []],
    [
      'by the classes and everywhere',
      [
        { provide: APP_GUARD, useClass: RateLimitingGuard },
        { provide: APP_INTERCEPTOR, useClass: RateLimitingInterceptor },
      ],
    ],
  ])('asks once, however often guard and interceptor are bound beside: %s', async (_, providers) => {
    const app = await startApp(platform, {
      imports: [RateLimitingModule.forRoot({ policies: POLICIES, clock: new FakeClock() })],
      providers,
      controllers: [TwiceController],
    });
    const remaining = async (path: string): Promise<unknown[]> => {
      const answers = [await app.get(path), await app.get(path)];
      return answers.map(({ headers }) => headers['ratelimit']);
    };
    expect(await remaining('/twice/guard')).toEqual(['"few";r=9;t=60', '"few";r=8;t=60']);
    expect(await remaining('/twice/interceptor')).toEqual(['"few";r=7;t=60', '"few";r=6;t=60']);
  });

  it('leaves guard and interceptor in the lists of what is built later', async () => {
    const { app } = await start();
    const config = app.get(ApplicationConfig);
    expect([config.getGlobalGuards().length, config.getGlobalInterceptors().length]).toEqual([1, 1]);
  });

  it('leaves routes without a limit alone', async () => {
    const { app, get } = await startPlain(platform);
    const config = app.get(ApplicationConfig);
    const intercept = jest.spyOn(config.getGlobalInterceptors()[0]!, 'intercept');
    const canActivate = jest.spyOn(config.getGlobalGuards()[0]!, 'canActivate');
    expect((await get('/plain/free')).body).toBe('free');
    expect(intercept).not.toHaveBeenCalled();
    expect(canActivate).not.toHaveBeenCalled();
    expect((await get('/plain/guard')).headers).toHaveProperty('ratelimit');
    expect(canActivate).toHaveBeenCalledTimes(1);
    expect((await get('/plain/slots')).headers).toHaveProperty('ratelimit');
    expect(intercept).toHaveBeenCalledTimes(1);
  });
});

async function startPlain(platform: Platform): Promise<{ app: INestApplication; get: TestApp['get'] }> {
  const app = await startApp(platform, {
    imports: [RateLimitingModule.forRoot({ policies: POLICIES })],
    controllers: [PlainController],
  });
  return { app: app.app, get: (path) => app.get(path) };
}
