// One Nest application made of both copies of the packages for Nest.
import 'reflect-metadata';
import { Catch, Controller, Get, Inject, Module, Post, UseGuards, UseInterceptors } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { test } from 'node:test';

const require = createRequire(import.meta.url);
const PACKAGES = ['nestjs', 'active-session', 'redis', 'redis/nestjs', 'dashboard'].map(
  (name) => `@ratelease/${name}`,
);
const imported = Object.assign({}, ...(await Promise.all(PACKAGES.map((name) => import(name)))));
const required = Object.assign({}, ...PACKAGES.map((name) => require(name)));

/** What is injected by its class, and whether its own copy provides it is of no concern. */
const INJECTED = [
  'RateLimitingService',
  'AdditionalLimits',
  'ActiveSessions',
  'RedisPartitions',
  'RateLimitingGuard',
];

/** Nobody asks Redis here: who gets the partitions is the question. */
const UNASKED_CLIENT = Object.assign(new EventEmitter(), {
  status: 'wait',
  evalsha: () => assert.fail('asked'),
});

/** What decorators do, without TypeScript. */
function decorate(type, method, ...decorators) {
  const descriptor = Object.getOwnPropertyDescriptor(type.prototype, method);
  for (const decorator of decorators) decorator(type.prototype, method, descriptor);
}

/** The modules of `ours`; decorators, keys, exceptions and services of `theirs`. */
function application(ours, theirs) {
  class ThingsController {
    list() {
      return 'things';
    }
    ofLibrary() {
      return 'of the library';
    }
    free() {
      return 'free';
    }
    open(session) {
      return session.id;
    }
    poll(session) {
      return session.id;
    }
  }
  decorate(ThingsController, 'list', Get(), theirs.EnableRateLimiting(['perClient', 'atOnce']));
  decorate(ThingsController, 'ofLibrary', Get('library'), ours.EnableRateLimiting('ofLibrary'));
  decorate(ThingsController, 'free', Get('free'), theirs.DisableRateLimiting());
  decorate(ThingsController, 'open', Post(), theirs.OpensActiveSession());
  decorate(ThingsController, 'poll', Get('sessions/:sessionId'));
  theirs.CurrentActiveSession()(ThingsController.prototype, 'open', 0);
  theirs.CurrentActiveSession()(ThingsController.prototype, 'poll', 0);
  Controller('things')(ThingsController);

  class RejectionFilter {
    catch(exception, host) {
      const { policyName } = exception;
      host.switchToHttp().getResponse().status(exception.getStatus()).json({ policyName });
    }
  }
  Catch(theirs.RateLimitRejectedException)(RejectionFilter);

  // A library of the other format: everything that it injects by its class belongs to `theirs`.
  class LibraryModule {
    constructor(...injected) {
      [this.service, this.limits, this.sessions, this.shared, this.guard] = injected;
      this.limits.add('library', { algorithm: 'concurrency', permitLimit: 50 });
    }
  }
  INJECTED.forEach((name, index) => Inject(theirs[name])(LibraryModule, undefined, index));
  Module({
    imports: [
      theirs.RateLimitingModule.forFeature({
        policies: { ofLibrary: { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 3_600_000 } },
      }),
    ],
  })(LibraryModule);

  class AppModule {}
  Module({
    imports: [
      ours.RateLimitingModule.forRoot({
        global: { algorithm: 'concurrency', permitLimit: 100 },
        policies: {
          perClient: {
            algorithm: 'fixedWindow',
            permitLimit: 2,
            windowMs: 3_600_000,
            key: theirs.byClient(),
          },
          atOnce: { algorithm: 'concurrency', permitLimit: 1, queueLimit: 10 },
        },
      }),
      ours.ActiveSessionModule.forRoot({ group: theirs.bySessionHeader('x-group') }),
      theirs.ActiveSessionLimitingModule.forRoot({ permitLimit: 1 }),
      ours.RedisRateLimitingModule.forRoot({ client: UNASKED_CLIENT }),
      theirs.RateLimitingDashboardModule.forRoot({ guards: 'unguarded' }),
      LibraryModule,
    ],
    controllers: [ThingsController],
    providers: [{ provide: APP_GUARD, useExisting: theirs.RateLimitingGuard }],
  })(AppModule);
  return { AppModule, LibraryModule, RejectionFilter };
}

for (const [name, ours, theirs] of [
  ['import, decorators by require', imported, required],
  ['require, decorators by import', required, imported],
]) {
  test(`modules by ${name}: one set of limits`, async () => {
    assert.notEqual(ours.RateLimitingModule, theirs.RateLimitingModule);
    const { AppModule, LibraryModule, RejectionFilter } = application(ours, theirs);
    const app = await NestFactory.create(AppModule, { logger: ['error'], abortOnError: false });
    app.useGlobalFilters(new RejectionFilter());
    await app.listen(0, '127.0.0.1');
    try {
      const url = `${await app.getUrl()}/things`;
      const answers = [await fetch(url), await fetch(url), await fetch(url)];
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 429],
      );
      assert.match(answers[2].headers.get('retry-after'), /^\d+$/);
      assert.match(
        answers[2].headers.get('ratelimit'),
        /"global";r=100, "library";r=50, "perClient";r=0;t=\d+/,
      );
      assert.deepEqual(await answers[2].json(), { policyName: 'perClient' });
      assert.equal((await fetch(`${url}/free`)).headers.get('ratelimit'), null);

      const rows = app.get(ours.RateLimitingService, { strict: false }).overview();
      const { granted, refused } = rows.find(({ policy }) => policy === 'perClient');
      assert.deepEqual([granted, refused], [2, 1]);

      const library = [await fetch(`${url}/library`), await fetch(`${url}/library`)];
      assert.deepEqual(
        library.map(({ status }) => status),
        [200, 429],
      );

      const { service, sessions, shared, guard } = app.get(LibraryModule);
      assert.equal(service, app.get(ours.RateLimitingService, { strict: false }));
      assert.equal(sessions, app.get(ours.ActiveSessions, { strict: false }));
      assert.equal(shared, app.get(ours.RedisPartitions, { strict: false }));
      assert.equal(guard, app.get(ours.RateLimitingGuard, { strict: false }));

      const open = { method: 'POST', headers: { 'x-group': 'ann' } };
      const opened = await fetch(url, open);
      assert.equal(opened.status, 201);
      const id = await opened.text();
      assert.equal(await (await fetch(`${url}/sessions/${id}`, { headers: open.headers })).text(), id);
      assert.equal((await fetch(url, open)).status, 429);
      assert.equal(app.get(ours.ActiveSessions, { strict: false }).groups.length, 1);
      assert.equal((await fetch(`${url.replace('/things', '')}/rate-limits`)).status, 200);

      theirs.resetRateLimiting(app);
      assert.equal((await fetch(url)).status, 200);
    } finally {
      await app.close();
    }
  });
}

/** The module of `ours`, enforced by guard and interceptor of `theirs` alone. */
function boundByHand(ours, theirs) {
  class BoundController {
    early() {
      return 'early';
    }
    late() {
      return 'late';
    }
    afterPipes() {
      return 'after pipes';
    }
  }
  decorate(BoundController, 'early', Get('guard'), ours.EnableRateLimiting('once', { phase: 'guard' }));
  decorate(BoundController, 'late', Get('interceptor'), ours.EnableRateLimiting('once'));
  decorate(
    BoundController,
    'afterPipes',
    Get('handler'),
    ours.EnableRateLimiting('once', { phase: 'handler' }),
  );
  UseGuards(theirs.RateLimitingGuard)(BoundController);
  UseInterceptors(theirs.RateLimitingInterceptor)(BoundController);
  Controller()(BoundController);
  const once = {
    algorithm: 'fixedWindow',
    permitLimit: 1,
    windowMs: 3_600_000,
    key: theirs.byRoute(),
  };
  class AppModule {}
  Module({
    imports: [ours.RateLimitingModule.forRoot({ bind: false, policies: { once } })],
    controllers: [BoundController],
  })(AppModule);
  return AppModule;
}

for (const [name, ours, theirs] of [
  ['import, guards by require', imported, required],
  ['require, guards by import', required, imported],
]) {
  test(`modules by ${name}: what is refused stays refused, in every phase`, async () => {
    const app = await NestFactory.create(boundByHand(ours, theirs), {
      logger: ['error'],
      abortOnError: false,
    });
    await app.listen(0, '127.0.0.1');
    try {
      for (const phase of ['guard', 'interceptor', 'handler']) {
        const url = `${await app.getUrl()}/${phase}`;
        const ask = () => fetch(url, { signal: AbortSignal.timeout(10_000) });
        const statuses = [await ask(), await ask()].map(({ status }) => status);
        assert.deepEqual([phase, ...statuses], [phase, 200, 429]);
      }
    } finally {
      await app.close();
    }
  });
}

test('configured by both copies, the application does not boot: there would be two sets of limits', async () => {
  class AppModule {}
  Module({ imports: [imported.RateLimitingModule.forRoot(), required.RateLimitingModule.forRoot()] })(
    AppModule,
  );
  await assert.rejects(
    NestFactory.create(AppModule, { logger: false, abortOnError: false }).then((app) => app.init()),
    { name: 'RateLimitingConfigurationError', code: 'ERR_RL_MODULE_TWICE' },
  );
});
