import { byClient } from '@ratelease/nestjs';
import { eventually } from '../nestjs/fixtures/eventually.js';
import { PLATFORMS, stopApps } from '../nestjs/fixtures/test-app.js';
import { ExportsApp } from './exports-app.js';

afterEach(stopApps);

describe.each(PLATFORMS)('exports per user on $name', (platform) => {
  it('refuses one too many, and takes the next when one has ended', async () => {
    const app = await ExportsApp.start(platform);
    const [first, second] = [await app.open('ann'), await app.open('ann')];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect((await app.open('ann')).status).toBe(429);
    expect((await app.open('bob')).status).toBe(201);

    expect(await app.finish('ann', first.id)).toBe(200);
    expect((await app.open('ann')).status).toBe(201);
    expect((await app.open('ann')).status).toBe(429);
  });

  it('lets hundreds of requests share the permit of their export', async () => {
    const app = await ExportsApp.start(platform);
    const [first, second] = [await app.open('ann'), await app.open('ann')];
    const polls = Array.from({ length: 300 }, (_value, index) =>
      app.poll('ann', index % 2 === 0 ? first.id : second.id),
    );
    expect(new Set(await Promise.all(polls))).toEqual(new Set([200]));
  });

  it('ends the session of a refused request, and of one that fails', async () => {
    const app = await ExportsApp.start(platform);
    const open = [await app.open('ann'), await app.open('ann')];
    await app.open('ann');
    await eventually(() => app.activeOf('ann') === 2);
    expect(await app.poll('ann', open[1]!.id)).toBe(200);

    await app.finish('ann', open[0]!.id);
    expect((await app.open('ann', '/exports/broken')).status).toBe(500);
    await eventually(() => app.activeOf('ann') === 1);
    expect((await app.open('ann')).status).toBe(201);
  });

  it('does not limit requests outside of sessions, and knows no session of others', async () => {
    const app = await ExportsApp.start(platform, { limit: { permitLimit: 1 } });
    const { id } = await app.open('ann');
    expect(await app.app.statuses('/other', 5, { 'x-user': 'ann' })).toEqual([200, 200, 200, 200, 200]);
    expect(await app.poll('bob', id)).toBe(404);
    expect(await app.poll('ann', 'unknown')).toBe(404);
    expect((await app.app.send({ method: 'POST', path: '/exports' })).status).toBe(403);
  });

  it('takes one permit for a session that the application has opened, at its first request', async () => {
    const app = await ExportsApp.start(platform, { limit: { permitLimit: 1 } });
    app.sessions.open('user=ann', { id: 'one' });
    app.sessions.open('user=ann', { id: 'two' });
    const polls = await Promise.all(Array.from({ length: 50 }, () => app.poll('ann', 'one')));
    expect(new Set(polls)).toEqual(new Set([200]));

    expect(await app.poll('ann', 'two')).toBe(429);
    await eventually(() => app.activeOf('ann') === 1);
    expect(await app.poll('ann', 'one')).toBe(200);
  });

  it('gives the permit back when a session was idle for too long', async () => {
    const app = await ExportsApp.start(platform, {
      limit: { permitLimit: 1 },
      sessions: { idleTimeoutMs: 1000 },
    });
    const { id } = await app.open('ann');
    app.clock.advance(900);
    expect(await app.poll('ann', id)).toBe(200);
    app.clock.advance(900);
    expect((await app.open('ann')).status).toBe(429);
    await eventually(() => app.activeOf('ann') === 1);
    app.clock.advance(200);
    expect(app.activeOf('ann')).toBe(0);
    expect((await app.open('ann')).status).toBe(201);
  });

  it('keeps a session in use while a request of it is under way', async () => {
    const app = await ExportsApp.start(platform, { sessions: { idleTimeoutMs: 1000 } });
    const { id } = await app.open('ann');
    const slow = app.app.open(`/exports/${id}/slowly`, { 'x-user': 'ann' });
    await eventually(() => app.gate.waiting === 1);
    app.clock.advance(5000);
    expect(app.activeOf('ann')).toBe(1);
    app.gate.open();
    expect((await slow.answer).status).toBe(200);
  });

  it('lets the requests of a new session wait, and forgets those that leave', async () => {
    const app = await ExportsApp.start(platform, { limit: { permitLimit: 1, queueLimit: 5 } });
    const { id } = await app.open('ann');
    const session = app.sessions.open('user=ann', { id: 'next' });
    const leaving = app.app.open('/exports/next', { 'x-user': 'ann' });
    const staying = app.app.open('/exports/next', { 'x-user': 'ann' });
    const ending = app.sessions.open('user=ann', { id: 'ending' });
    const hopeless = app.app.open('/exports/ending', { 'x-user': 'ann' });
    await eventually(() => app.sessions.group('user=ann')!.sessions.length === 3);
    leaving.abort();
    await app.app.get('/other');
    void ending.terminate();
    expect([404, 429]).toContain((await hopeless.answer).status);

    expect(await app.finish('ann', id)).toBe(200);
    expect((await staying.answer).status).toBe(200);
    void session.terminate();
    expect((await app.open('ann')).status).toBe(201);
  });
});

const ORDERS = [
  ['sessions', 'limit', 'rateLimiting'],
  ['rateLimiting', 'limit', 'sessions'],
  ['limit', 'sessions', 'rateLimiting'],
  ['limit', 'rateLimiting', 'sessions'],
] as const;

describe.each(PLATFORMS)('the limit on sessions beside a global one on $name', (platform) => {
  it.each(ORDERS)('is taken together with it, imported in the order %s, %s, %s', async (...order) => {
    const app = await ExportsApp.start(platform, {
      order,
      rateLimiting: {
        global: { algorithm: 'fixedWindow', permitLimit: 4, windowMs: 1000, key: byClient() },
      },
    });
    const answer = await app.app.send({ method: 'POST', path: '/exports', headers: { 'x-user': 'ann' } });
    expect(answer.headers['ratelimit']).toMatch(/^"global";r=3;t=1, "activeSessions";r=1$/);

    await app.open('ann');
    const refused = await app.open('ann');
    expect(refused.status).toBe(429);
    await eventually(() => app.activeOf('ann') === 2);
    // The refused one has charged nobody.
    expect(await app.app.statuses('/other', 3)).toEqual([200, 200, 429]);
  });

  it('opens no session where the global limiter refuses', async () => {
    const app = await ExportsApp.start(platform, {
      rateLimiting: { global: { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 1000 } },
    });
    await app.app.get('/other');
    expect((await app.open('ann')).status).toBe(429);
    await eventually(() => app.activeOf('ann') === 0);
    app.clock.advance(1000);
    expect((await app.open('ann')).status).toBe(201);
  });

  it.each(['guard', 'middleware'] as const)(
    'waits for the user where the global limiter is asked in the phase %s',
    async (globalPhase) => {
      const app = await ExportsApp.start(platform, {
        limit: { permitLimit: 1 },
        rateLimiting: {
          globalPhase,
          global: { algorithm: 'fixedWindow', permitLimit: 100, windowMs: 1000 },
        },
      });
      expect((await app.open('ann')).status).toBe(201);
      expect((await app.open('ann')).status).toBe(429);
      expect((await app.open('bob')).status).toBe(201);
    },
  );
});
