// One Nest application made of both copies of @ratelease/nestjs and @ratelease/active-session.
import 'reflect-metadata';
import { Catch, Controller, Get, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

const require = createRequire(import.meta.url);
const imported = { ...(await import('@ratelease/nestjs')), ...(await import('@ratelease/active-session')) };
const required = { ...require('@ratelease/nestjs'), ...require('@ratelease/active-session') };

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
    ],
    controllers: [ThingsController],
  })(AppModule);
  return { AppModule, RejectionFilter };
}

for (const [name, ours, theirs] of [
  ['import, decorators by require', imported, required],
  ['require, decorators by import', required, imported],
]) {
  test(`modules by ${name}: one set of limits`, async () => {
    assert.notEqual(ours.RateLimitingModule, theirs.RateLimitingModule);
    const { AppModule, RejectionFilter } = application(ours, theirs);
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
      assert.match(answers[2].headers.get('ratelimit'), /"global";r=100, "perClient";r=0;t=\d+/);
      assert.deepEqual(await answers[2].json(), { policyName: 'perClient' });
      assert.equal((await fetch(`${url}/free`)).headers.get('ratelimit'), null);

      const rows = app.get(ours.RateLimitingService, { strict: false }).overview();
      const { granted, refused } = rows.find(({ policy }) => policy === 'perClient');
      assert.deepEqual([granted, refused], [2, 1]);

      const open = { method: 'POST', headers: { 'x-group': 'ann' } };
      const opened = await fetch(url, open);
      assert.equal(opened.status, 201);
      const id = await opened.text();
      assert.equal(await (await fetch(`${url}/sessions/${id}`, { headers: open.headers })).text(), id);
      assert.equal((await fetch(url, open)).status, 429);
      assert.equal(app.get(ours.ActiveSessions, { strict: false }).groups.length, 1);
    } finally {
      await app.close();
    }
  });
}
