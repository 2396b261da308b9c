import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { send } from '../e2e/nestjs/fixtures/http-client.js';
import { FreshApplication } from './fresh-application.js';
import type { Packed } from './fresh-application.js';
import { entryNames, pack } from './packed-library.js';

/** The same in both formats: prints the names that each entry exports. */
const PRINT = `const print = (name, module) => console.log(name, Object.keys(module).filter((key) => key !== 'default'
  && key !== 'module.exports' && key !== '__esModule').sort().join());`;

// Installing takes its time where npm's cache is cold.
const PATIENCE_MS = 300_000;

let packed: Packed;
beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'ratelease-packed-'));
  packed = { folder, libraries: pack(folder) };
}, PATIENCE_MS);
afterAll(() => rmSync(packed.folder, { recursive: true }));

describe.each([
  { template: 'nest12', title: 'Nest 12, as ESM' },
  { template: 'nest11', title: 'Nest 11, as CommonJS' },
] as const)('the packed libraries in a fresh application on $title', ({ template }) => {
  let application: FreshApplication;
  beforeAll(() => {
    application = FreshApplication.create(template, packed);
  }, PATIENCE_MS);
  afterAll(() => application.remove());

  it(
    'compile strictly, with no error in the application or in their declarations',
    async () => {
      const { output } = await application.compile();
      const faults = output.split('\n').filter((line) => /error TS/.test(line));
      const ours = faults.filter((line) => line.startsWith('src/') || line.includes('@ratelease/'));
      const unknown = faults.filter((line) => !line.startsWith('node_modules/'));
      expect({ ours, unknown }).toEqual({ ours: [], unknown: [] });
    },
    PATIENCE_MS,
  );

  it(
    'limit requests: 429 and the fields',
    async () => {
      const port = await application.start();
      const answers = [];
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      for (let request = 0; request < 3; request++) answers.push(await send(port, { path: '/' }));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
      expect(answers[0]!.body).toBe('Hello World!');
      expect(answers[0]!.headers.ratelimit).toMatch(/^"perClient";r=1;t=\d+, "atOnce";r=0$/);
      expect(answers[2]!.headers['ratelimit-policy']).toMatch(/^"perClient";q=2;w=3600, "atOnce";q=1/);
      expect(Number(answers[2]!.headers['retry-after'])).toBeGreaterThan(3_500);
      expect(JSON.parse(answers[2]!.body)).toEqual({ statusCode: 429, message: 'Too many requests.' });
      expect((await send(port, { path: '/granted' })).body).toBe('2');
    },
    PATIENCE_MS,
  );

  it(
    'load by import and by require, with the same exports',
    async () => {
      const names = JSON.stringify(entryNames());
      const [byImport, byRequire] = await Promise.all([
        application.run(
          '--input-type=module',
          '-e',
          `${PRINT}for (const n of ${names}) print(n, await import(n));`,
        ),
        application.run(
          '--input-type=commonjs',
          '-e',
          `${PRINT}for (const n of ${names}) print(n, require(n));`,
        ),
      ]);
      expect(byImport).toMatchObject({ exitCode: 0 });
      expect(byRequire).toEqual(byImport);
      expect(byImport.output.match(/^@ratelease\/\S+ \w+/gm)).toHaveLength(entryNames().length);
    },
    PATIENCE_MS,
  );

  it.each(['limiters', 'nest'])(
    'are one where both copies are loaded into a process: %s',
    async (name) => {
      const ending = await application.run(
        '--test',
        '--test-reporter=tap',
        join('both-copies', `${name}.test.mjs`),
      );
      expect(ending.exitCode === 0 ? '' : ending.output).toBe('');
      expect(ending.output).toMatch(/^# fail 0$/m);
      expect(ending.output).toMatch(/^# pass [2-9]$/m);
    },
    PATIENCE_MS,
  );
});
