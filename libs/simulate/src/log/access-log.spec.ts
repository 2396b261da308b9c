import * as fc from 'fast-check';
import type { TraceEntry } from '../trace/trace-entry.js';
import { readAccessLog } from './access-log.js';
import { parseCommonTime, parseTime } from './timestamps.js';

async function entriesOf(chunks: (string | Uint8Array)[], options = {}): Promise<TraceEntry[]> {
  const entries: TraceEntry[] = [];
  for await (const entry of readAccessLog(chunks, options)) entries.push(entry);
  return entries;
}

async function only(line: string, options = {}): Promise<TraceEntry> {
  const entries = await entriesOf([line], options);
  expect(entries).toHaveLength(1);
  return entries[0]!;
}

const HEAD = '192.0.2.7 - ann [10/Oct/2026:13:55:36 +0200]';
const NOON = Date.UTC(2026, 9, 10, 11, 55, 36);

describe('the common and the combined log format', () => {
  it('are read', async () => {
    const line = `${HEAD} "POST /reports?from=1 HTTP/1.1" 201 512 "https://a.example/" "Mozilla/5.0 \\"X\\""`;
    const entry = await only(line);
    expect(entry).toMatchObject({
      timeMs: NOON,
      ip: '192.0.2.7',
      user: 'ann',
      method: 'POST',
      path: '/reports',
      line: 1,
    });
    expect(['status', 'referer', 'agent', 'other'].map(entry.fields!)).toEqual([
      '201',
      'https://a.example/',
      'Mozilla/5.0 \\"X\\"',
      undefined,
    ]);
    expect(await only(`${HEAD} "GET / HTTP/1.0" 304 -`)).toMatchObject({ timeMs: NOON, path: '/' });
  });

  it.each([
    [
      'a user with spaces',
      '192.0.2.7 - Ann Smith [10/Oct/2026:13:55:36 +0200] "GET / HTTP/1.1" 200 1',
      { user: 'Ann Smith' },
    ],
    ['no user', '192.0.2.7 - - [10/Oct/2026:13:55:36 +0200] "GET / HTTP/1.1" 200 1', { user: undefined }],
    [
      'an IPv6 address',
      '2001:db8::1 - - [10/Oct/2026:13:55:36 +0200] "GET / HTTP/1.1" 200 1',
      { ip: '2001:db8::1' },
    ],
    [
      'an IPv6 address that ends like a port',
      '2001:db8::80 - ann [10/Oct/2026:13:55:36 +0200] "GET / HTTP/1.1" 200 1',
      { ip: '2001:db8::80', user: 'ann' },
    ],
    [
      'a virtual host',
      'www.example.org:443 192.0.2.7 - ann [10/Oct/2026:13:55:36 +0200] "GET / HTTP/1.1" 200 1',
      { ip: '192.0.2.7', user: 'ann' },
    ],
    [
      'a request that is none',
      '192.0.2.7 - - [10/Oct/2026:13:55:36 +0200] "\\x16\\x03\\x01" 400 0',
      { method: undefined, path: undefined, ip: '192.0.2.7' },
    ],
    ['an empty request', '192.0.2.7 - - [10/Oct/2026:13:55:36 +0200] "-" 408 -', { path: undefined }],
    ['an escaped quote in the path', `${HEAD} "GET /a\\"b HTTP/1.1" 200 1`, { path: '/a\\"b' }],
  ])('are read with %s', async (_what, line, expected) => {
    expect(await only(line)).toMatchObject({ timeMs: NOON, ...expected });
  });

  it.each([
    ['us', '1500', 1.5],
    ['s', '2', 2_000],
    ['s', '0.250', 250],
    ['ms', '"12"', 12],
    ['s', 'rt=0.5', 500],
    ['s', '-', undefined],
  ] as const)('have a duration in %s at the end: %s', async (durationUnit, text, expected) => {
    const entry = await only(`${HEAD} "GET / HTTP/1.1" 200 1 "-" "agent 5" ${text}`, { durationUnit });
    expect(entry.durationMs).toBe(expected);
  });

  it('take no number for a duration unless it is said to be one', async () => {
    expect((await only(`${HEAD} "GET / HTTP/1.1" 200 77`)).durationMs).toBeUndefined();
    expect((await only(`${HEAD} "GET / HTTP/1.1" 200 77`, { durationUnit: 's' })).durationMs).toBeUndefined();
  });

  it('may tell when a request ended', async () => {
    const entry = await only(`${HEAD} "GET / HTTP/1.1" 200 1 0.5`, { durationUnit: 's', timeIs: 'end' });
    expect(entry).toMatchObject({ timeMs: NOON - 500, durationMs: 500 });
  });
});

describe('JSON lines', () => {
  it.each<[string, object, object]>([
    [
      'pino',
      { time: NOON, req: { method: 'GET', url: '/a?b', remoteAddress: '::1' }, responseTime: 12 },
      { method: 'GET', path: '/a', ip: '::1', durationMs: 12 },
    ],
    [
      'nginx',
      {
        time_iso8601: '2026-10-10T13:55:36+02:00',
        remote_addr: '192.0.2.7',
        remote_user: '',
        request_uri: '/a',
        request_time: '0.250',
      },
      { ip: '192.0.2.7', user: undefined, path: '/a', durationMs: 250 },
    ],
    [
      'Caddy',
      { ts: NOON / 1_000, request: { remote_ip: '192.0.2.7', method: 'PUT', uri: '/a' }, duration: 0.5 },
      { method: 'PUT', durationMs: undefined },
    ],
    ['a user object', { timestamp: '2026-10-10 11:55:36', user: { id: 7 } }, { user: '7' }],
  ])('of %s are read', async (_what, line, expected) => {
    expect(await only(JSON.stringify(line))).toMatchObject({ timeMs: NOON, ...expected });
  });

  it('have the fields that one names', async () => {
    const line = JSON.stringify({ when: NOON, who: { ip: '192.0.2.7' }, 'a.b': 'x', took: 3, time: 'never' });
    const entry = await only(line, {
      fields: { time: 'when', ip: 'who.ip', user: 'a.b', duration: 'took' },
      durationUnit: 's',
    });
    expect(entry).toMatchObject({ timeMs: NOON, ip: '192.0.2.7', user: 'x', durationMs: 3_000 });
    expect(entry.fields!('took')).toBe('3');
    expect(entry.fields!('who')).toBeUndefined();
    expect(entry.fields!('toString')).toBeUndefined();
  });
});

describe('times', () => {
  it.each([
    ['10/Oct/2026:13:55:36 +0200', NOON],
    ['10/Oct/2026:06:25:36 -0530', NOON],
    ['10/Oct/2026:11:55:36.250 +0000', NOON + 250],
    ['31/Feb/2026:00:00:00 +0000', undefined],
    ['10/Foo/2026:00:00:00 +0000', undefined],
    ['10/Oct/2026:24:00:00 +0000', undefined],
  ])('of the common format: %s', (text, ms) => {
    expect(parseCommonTime(text)).toBe(ms);
  });

  it.each<[unknown, number | undefined]>([
    ['2026-10-10T11:55:36Z', NOON],
    ['2026-10-10T11:55:36', NOON],
    ['2026-10-10 13:55:36 +0200', NOON],
    ['2026-10-10T13:55:36.5+02:00', NOON + 500],
    [NOON, NOON],
    [NOON / 1_000, NOON],
    [String(NOON / 1_000), NOON],
    ['10/Oct/2026:13:55:36 +0200', NOON],
    ['yesterday', undefined],
    ['2026-10-10', undefined],
    [-5, undefined],
    [null, undefined],
    [{}, undefined],
  ])('of JSON lines: %j', (value, ms) => {
    expect(parseTime(value)).toBe(ms);
  });
});

describe('an access log', () => {
  const lines = [
    `${HEAD} "GET /ü HTTP/1.1" 200 1`,
    '',
    'what is this?',
    JSON.stringify({ time: NOON, path: '/é' }),
    `${HEAD} "GET /end HTTP/1.1" 200 1`,
  ];

  it('is the same however it is cut into chunks', async () => {
    const bytes = new TextEncoder().encode(lines.join('\r\n'));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (cuts) => {
        const at = [0, ...cuts.sort((left, right) => left - right), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.slice(at[index], end));
        const log = readAccessLog(chunks);
        const paths: (string | undefined)[] = [];
        for await (const { path, line } of log) paths.push(`${line} ${path}`);
        expect(paths).toEqual(['1 /ü', '4 /é', '5 /end']);
        expect(log.lineCount).toBe(5);
        expect(log.unreadable).toEqual([{ line: 3, text: 'what is this?' }]);
      }),
    );
  });

  it('counts what it can’t read, and shows the first few', async () => {
    const log = readAccessLog([
      Array.from({ length: 9 }, (_, index) => `no ${index}`).join('\n'),
      '\n{"time":1}\n{"no":"time"}\n[]',
    ]);
    const read: TraceEntry[] = [];
    for await (const entry of log) read.push(entry);
    expect(read).toHaveLength(1);
    expect(log.unreadableCount).toBe(11);
    expect(log.unreadable.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5]);
  });

  it('may be empty', async () => {
    expect(await entriesOf([])).toEqual([]);
    expect(await entriesOf(['', '\n\n'])).toEqual([]);
  });

  it('reads only the format that it is told', async () => {
    expect(
      await entriesOf(
        lines.map((line) => `${line}\n`),
        { format: 'json' },
      ),
    ).toHaveLength(1);
    expect(
      await entriesOf(
        lines.map((line) => `${line}\n`),
        { format: 'common' },
      ),
    ).toHaveLength(2);
    expect(() => readAccessLog([], { format: 'xml' as never })).toThrow(
      'readAccessLog: format must be one of auto, common, json, but got "xml".',
    );
  });

  it('keeps no more of a line without end than a million characters', async () => {
    const log = readAccessLog([...Array.from({ length: 50 }, () => 'x'.repeat(100_000)), '\n{"time":1}']);
    const read: TraceEntry[] = [];
    for await (const entry of log) read.push(entry);
    expect([read.length, log.unreadableCount]).toEqual([1, 1]);
  });
});
