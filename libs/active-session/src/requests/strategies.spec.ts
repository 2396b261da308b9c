import {
  byCookieSession,
  bySessionHeader,
  byUserId,
  defaultSessionStrategy,
  sessionByHeader,
  sessionByParam,
} from './strategies.js';

describe('the group of a request', () => {
  it.each([
    ['the authenticated user', byUserId(), { user: { id: 7 } }, 'user=7'],
    ['the user of a socket', byUserId(), { data: { user: { id: 'ann' } } }, 'user=ann'],
    ['a header', bySessionHeader('X-Tenant'), { headers: { 'x-tenant': 'acme' } }, 'header="x-tenant"=acme'],
    [
      'a session of express-session',
      byCookieSession(),
      { sessionID: 's1', session: { id: 's1' } },
      'cookie=s1',
    ],
    ['a session of @fastify/session', byCookieSession(), { session: { sessionId: 's2' } }, 'cookie=s2'],
  ])('is that of %s', (_name, strategy, request, groupId) => {
    expect(strategy(request)).toBe(groupId);
  });

  it.each([
    ['no user', byUserId(), {}],
    ['a user without id', byUserId(), { user: {} }],
    ['no such header', bySessionHeader('x-tenant'), { headers: {} }],
    ['an empty header', bySessionHeader('x-tenant'), { headers: { 'x-tenant': '' } }],
    ['no cookie session', byCookieSession(), {}],
    ['a destroyed cookie session', byCookieSession(), { sessionID: 's1', session: null }],
  ])('is none with %s', (_name, strategy, request) => {
    expect(strategy(request)).toBeUndefined();
  });

  it('never mixes ids of different kinds', () => {
    const id = 'same';
    const groups = [
      byUserId()({ user: { id } }),
      byCookieSession()({ session: { id } }),
      bySessionHeader('a')({ headers: { a: id } }),
      bySessionHeader('b')({ headers: { b: id } }),
    ];
    expect(new Set(groups).size).toBe(4);
  });

  it('makes a cookie session that is only saved with something in it worth saving', () => {
    const session: Record<string, unknown> = { id: 's1' };
    byCookieSession()({ session });
    expect(Object.keys(session)).toHaveLength(2);
  });
});

describe('the session that a request names', () => {
  it('is in its route or in a header', () => {
    expect(sessionByParam('exportId')({ params: { exportId: 'e1' } })).toBe('e1');
    expect(sessionByHeader('Export')({ headers: { export: 'e2' } })).toBe('e2');
    const both = { params: { sessionId: 'e1' }, headers: { 'active-session': 'e2' } };
    expect(defaultSessionStrategy(both)).toBe('e1');
    expect(defaultSessionStrategy({ headers: both.headers })).toBe('e2');
    expect(defaultSessionStrategy({ headers: {} })).toBeUndefined();
  });
});
