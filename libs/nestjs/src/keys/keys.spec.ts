import 'reflect-metadata';
import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import { byClient } from './by-client.js';
import { byHeader } from './by-header.js';
import { byRoute } from './by-route.js';
import { byUser } from './by-user.js';
import { compositeKey } from './composite-key.js';
import type { KeyFunction } from './key-function.js';
import { inOwnSpace } from './key-function.js';
import { keptKey } from './kept-key.js';

const context = (parts: object): RateLimitingContext =>
  ({ type: 'http', request: {}, ...parts }) as unknown as RateLimitingContext;

describe('key functions', () => {
  it('keep a user that is called like an address apart from the address', () => {
    const key = byUser({ orElse: byClient() });
    expect(key(context({ user: { id: '192.0.2.1' } }))).not.toBe(
      key(context({ clientNetwork: '192.0.2.1' })),
    );
    expect(key(context({ user: { id: 'client=192.0.2.1' } }))).not.toBe(
      key(context({ clientNetwork: '192.0.2.1' })),
    );
  });

  it('keep own keys apart from ready ones', () => {
    const own = inOwnSpace(() => 'client=192.0.2.1', 'test');
    expect(own(context({}))).not.toBe(byClient()(context({ clientNetwork: '192.0.2.1' })));
  });

  it('take the user 7 and the user "7" for the same, 0 for a user, and nothing for none', () => {
    const key = byUser();
    expect(key(context({ user: { id: 7 } }))).toBe(key(context({ user: { id: '7' } })));
    expect(key(context({ user: { id: 0 } }))).toBe('user=0');
    expect(() => key(context({ user: undefined }))).toThrow(/byUser\(\{ orElse: byClient\(\) \}\)/);
    expect(() => key(context({ user: {} }))).toThrow(expect.objectContaining({ code: 'ERR_RL_MISSING_KEY' }));
    expect(() => key(context({ user: { id: {} } }))).toThrow(
      expect.objectContaining({ code: 'ERR_RL_MISSING_KEY' }),
    );
  });

  it('take another thenable than a promise, whose then() answers with nothing, for one', async () => {
    const then = (resolve: (key: string) => void): void => void setImmediate(resolve, '7');
    // oxlint-disable-next-line unicorn/no-thenable -- that is what it is
    const key = Object.defineProperty({}, 'then', { value: then }) as Promise<string>;
    expect(await inOwnSpace(() => key, 'test')(context({}))).toBe('key=7');
  });

  it('refuse a client without address', () => {
    expect(() => byClient()(context({}))).toThrow(expect.objectContaining({ code: 'ERR_RL_MISSING_KEY' }));
  });

  it('read headers in any case, and keep an absent one apart from every value', () => {
    const key = byHeader('X-Api-Key');
    const of = (value: unknown): unknown => key(context({ request: { headers: { 'x-api-key': value } } }));
    expect(new Set([of(undefined), of(''), of('a'), of('absent'), of(['a', 'b']), of('a, b')]).size).toBe(6);
    expect(of('a')).toBe(of('a'));
    expect(byHeader('a')(context({ request: { headers: { a: 'b=c' } } }))).not.toBe(
      byHeader('a=b')(context({ request: { headers: { 'a=b': 'c' } } })),
    );
  });

  it.each<[string, () => unknown]>([
    ['part', () => compositeKey(byUser(), byClient as never)],
    ['part that takes options', () => compositeKey(byHeader as never)],
    ['key of strangers', () => byUser({ orElse: byClient as never })],
    ['key of a policy', () => inOwnSpace(compositeKey as never, 'Policy "a"')],
  ])('are told from what makes them before a request comes: as %s', (_name, make) => {
    expect(make).toThrow(/Call it: [a-zA-Z]+\(\)\./);
    expect(make).toThrow(expect.objectContaining({ code: 'ERR_RL_INVALID_OPTION' }));
  });

  it('take the template of a route and not its path', () => {
    const express = { method: 'GET', route: { path: '/verify/:code' }, url: '/verify/123' };
    const fastify = { method: 'HEAD', routeOptions: { url: '/verify/:code' }, url: '/verify/456' };
    expect(byRoute()(context({ request: express }))).toBe('route=GET /verify/:code');
    expect(byRoute()(context({ request: fastify }))).toBe('route=GET /verify/:code');
    const message = context({ type: 'ws', controller: class Chat {}, handler: function say() {} });
    expect(byRoute()(message)).toBe('route=Chat.say');
  });

  it('take what clients call, where classes of one name have methods of one name', () => {
    class Users {
      list(): void {
        // Only its place counts.
      }
    }
    const { list } = Users.prototype;
    const field = (parent: string, fieldName: string): unknown => {
      const execution = { getArgByIndex: () => ({ parentType: { name: parent }, fieldName }) };
      return byRoute()(context({ type: 'graphql', controller: Users, handler: list, execution }));
    };
    expect(field('Query', 'users')).toBe('route=Query.users');
    expect(field('Query', 'members')).not.toBe(field('Query', 'users'));
    Reflect.defineMetadata('microservices:pattern', [{ cmd: 'users' }], list);
    expect(byRoute()(context({ type: 'rpc', controller: Users, handler: list }))).toBe(
      'route=[{"cmd":"users"}]',
    );
  });
});

describe('composite keys', () => {
  const key = (...parts: Parameters<typeof compositeKey>): unknown => compositeKey(...parts)(context({}));

  it('differ for all combinations of parts', () => {
    const combinations = [
      ['a:b', 'c'],
      ['a', 'b:c'],
      ['a', 'b', 'c'],
      ['a,b', 'c'],
      ['a","b', 'c'],
      [],
      [''],
      ['', ''],
      ['::1', '1'],
    ];
    expect(new Set(combinations.map((parts) => key(...parts))).size).toBe(combinations.length);
  });

  it('wait for parts that take time', async () => {
    const late: KeyFunction = async () => 'late';
    await expect(key('a', late)).resolves.toBe(key('a', 'late'));
  });

  it('keep composites of composites apart', () => {
    expect(key(compositeKey('a', 'b'), 'c')).not.toBe(key('a', compositeKey('b', 'c')));
  });

  it('are kept in a bounded length, and stay as many as they were', () => {
    const long = 'x'.repeat(16_000);
    const halves = [long + '\ud800', long + '\ud801', long + '\ufffd'];
    const kept = [long, `${long}y`, `y${long}`, ...halves].map(keptKey);
    expect(new Set(kept).size).toBe(kept.length);
    expect(Math.max(...kept.map(({ length }) => length))).toBeLessThanOrEqual(256);
    expect(keptKey(long)).toBe(keptKey('x'.repeat(16_000)));
    expect(keptKey('x'.repeat(256))).toBe('x'.repeat(256));
  });
});
