import * as fc from 'fast-check';
import { SimulationError } from '../errors/simulation-error.js';
import { readPolicies } from './checked-policy.js';
import { clientNetwork } from './client-network.js';
import { durationText, parseDuration } from './duration-text.js';
import { notationOf, parsePolicy } from './notation.js';
import { readKey } from './policy-keys.js';
import type { SimulatedPolicy } from './policy-options.js';

function errorOf(run: () => unknown): SimulationError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(SimulationError);
    return error as SimulationError;
  }
  throw new Error('Nothing was thrown.');
}

describe('the short notation', () => {
  it.each<[string, SimulatedPolicy]>([
    ['fixedWindow:100/1m', { algorithm: 'fixedWindow', permitLimit: 100, windowMs: 60_000 }],
    [
      'slidingWindow:5/10s,segments=5,queue=2,key=user/ip',
      {
        algorithm: 'slidingWindow',
        permitLimit: 5,
        windowMs: 10_000,
        segmentsPerWindow: 5,
        queueLimit: 2,
        key: 'user/ip',
      },
    ],
    [
      'tokenBucket:10/1s,burst=20,refill=interval',
      {
        algorithm: 'tokenBucket',
        tokenLimit: 20,
        tokensPerPeriod: 10,
        replenishmentPeriodMs: 1_000,
        refill: 'interval',
      },
    ],
    [
      'concurrency:8,order=newestFirst,queue=3',
      { algorithm: 'concurrency', permitLimit: 8, queueProcessingOrder: 'newestFirst', queueLimit: 3 },
    ],
    [
      'fixedWindow:1/500ms,path=/a*|/b,method=POST,key=ip+path',
      {
        algorithm: 'fixedWindow',
        permitLimit: 1,
        windowMs: 500,
        paths: ['/a*', '/b'],
        methods: ['POST'],
        key: 'ip+path',
      },
    ],
  ])('reads %s', (text, policy) => {
    expect(parsePolicy(text)).toEqual([text, policy]);
  });

  it('reads names, chains and spaces', () => {
    const [name, policy] = parsePolicy(' both = fixedWindow:10/1s,key=ip  and concurrency:5 ');
    expect(name).toBe('both');
    expect(policy).toEqual([
      { algorithm: 'fixedWindow', permitLimit: 10, windowMs: 1_000, key: 'ip' },
      { algorithm: 'concurrency', permitLimit: 5 },
    ]);
  });

  it('writes what it reads', () => {
    const policies = fc.record({
      algorithm: fc.constantFrom('fixedWindow', 'slidingWindow'),
      permitLimit: fc.integer({ min: 1, max: 1e6 }),
      windowMs: fc.integer({ min: 1, max: 1e9 }),
      segmentsPerWindow: fc.integer({ min: 1, max: 20 }),
      queueLimit: fc.nat(100),
      key: fc.constantFrom('ip', 'user/ip', 'ip+path', 'tenant'),
    });
    fc.assert(
      fc.property(policies, (policy) => {
        expect(parsePolicy(notationOf(policy as SimulatedPolicy))[1]).toEqual(policy);
      }),
    );
  });

  it.each([
    ['', 'there is no algorithm with a colon'],
    ['ip', 'there is no algorithm with a colon'],
    ['fixedWindw:1/1s', '"fixedWindw" is none of concurrency, tokenBucket, fixedWindow, slidingWindow'],
    ['fixedWindow:100', 'a rate such as 100/1m belongs behind "fixedWindow:", not "100"'],
    ['fixedWindow:100/1 minute', 'a rate such as 100/1m belongs behind "fixedWindow:", not "100/1 minute"'],
    ['concurrency:5/1s', 'a number of permits belongs behind "concurrency:", not "5/1s"'],
    ['fixedWindow:1/1s,ip', '"fixedWindow:1/1s,ip" is not "algorithm:numbers,option=value,…"'],
  ])('says what is wrong with %j', (text, why) => {
    const error = errorOf(() => parsePolicy(text));
    expect(error.code).toBe('ERR_RL_INVALID_NOTATION');
    expect(error.message).toContain(why);
  });
});

describe('durations', () => {
  it('come back as they were written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e12 }), (ms) => {
        expect(parseDuration(durationText(ms))).toBe(ms);
      }),
    );
  });

  it.each(['', '5', 's', '-1s', '1 s', '1e3ms', '1w'])('are not %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe('policies', () => {
  const window = { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 1_000 } as const;

  it('are one, several by name, or chains', () => {
    expect(readPolicies(window).map(({ name }) => name)).toEqual(['fixedWindow:1/1s']);
    const [first, chain] = readPolicies({
      first: window,
      chain: [window, { algorithm: 'concurrency', permitLimit: 2 }],
    });
    expect(first!.members).toHaveLength(1);
    expect(chain!.text).toBe('fixedWindow:1/1s and concurrency:2');
  });

  it.each<[unknown, string, string]>([
    [
      { a: { ...window, permitLimit: 0 } },
      'ERR_RL_INVALID_OPTION',
      'Policy "a": FixedWindowRateLimiter: permitLimit must be an integer',
    ],
    [
      { a: { ...window, algorithm: 'leaky' } },
      'ERR_RL_INVALID_OPTION',
      'Policy "a": algorithm must be one of',
    ],
    [
      { a: { ...window, permitlimit: 2 } },
      'ERR_RL_UNKNOWN_OPTION',
      'Policy "a": fixedWindow has no option "permitlimit"',
    ],
    [{ a: { ...window, clock: {} } }, 'ERR_RL_UNKNOWN_OPTION', 'no option "clock"'],
    [{ a: { ...window, key: 5 } }, 'ERR_RL_INVALID_OPTION', 'Policy "a": key must be'],
    [{ a: { ...window, key: 'ip+' } }, 'ERR_RL_INVALID_OPTION', 'Policy "a": key must be'],
    [{ a: { ...window, paths: [] } }, 'ERR_RL_INVALID_OPTION', 'Policy "a": paths must be'],
    [{ a: 'fixedWindow:1/1s' }, 'ERR_RL_INVALID_OPTION', 'Policy "a" must be an options object'],
    [{ a: [] }, 'ERR_RL_INVALID_OPTION', 'a chain needs at least one member'],
    [{}, 'ERR_RL_INVALID_OPTION', 'policies must be'],
    [null, 'ERR_RL_INVALID_OPTION', 'policies must be'],
    [[window], 'ERR_RL_INVALID_OPTION', 'policies must be'],
  ])('are refused with the place: %j', (policies, code, message) => {
    const error = errorOf(() => readPolicies(policies as never));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });
});

describe('keys', () => {
  const entry = {
    timeMs: 0,
    ip: '192.0.2.1',
    user: 'ann',
    method: 'GET',
    path: '/a',
    fields: (name: string) => (name === 'tenant' ? 't1' : undefined),
  };

  it.each<[string | string[] | undefined, string | undefined]>([
    [undefined, 'shared'],
    ['shared', 'shared'],
    ['ip', '192.0.2.1'],
    ['user', 'ann'],
    ['tenant', 't1'],
    ['missing', undefined],
    ['constructor', undefined],
    ['missing/user', 'user:ann'],
    ['missing/absent', undefined],
    ['ip+path', '192.0.2.1 /a'],
    [['method', 'tenant'], 'GET t1'],
    ['ip+missing', undefined],
  ])('%j is %j', (key, expected) => {
    expect(readKey('Policy', key)(entry)).toBe(expected);
  });

  it('tell a user who is called like an address from that address', () => {
    const keyOf = readKey('Policy', 'user/ip');
    expect(keyOf({ timeMs: 0, user: '192.0.2.1' })).not.toBe(keyOf({ timeMs: 0, ip: '192.0.2.1' }));
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::', '2001:db8::/64'],
    ['::1', '::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['[2001:db8::1]', '2001:db8::/64'],
    ['client.example', 'client.example'],
    ['not:an:address', 'not:an:address'],
    ['unix:', 'unix:'],
  ])('counts %s as %s', (address, network) => {
    expect(clientNetwork(address)).toBe(network);
  });
});
