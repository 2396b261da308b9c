import { transformSync } from '@swc/core';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { HttpAnswer } from '../fixtures/http-client.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';
import type { AppModule } from './some-application.js';

const SOURCE = readFileSync(join(__dirname, 'some-application.ts'), 'utf8');

function bySwc(decoratorMetadata: boolean): string {
  return transformSync(SOURCE, {
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata },
    },
    module: { type: 'commonjs' },
  }).code;
}

function byTypeScript(emitDecoratorMetadata: boolean): string {
  const compilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.CommonJS,
    experimentalDecorators: true,
    emitDecoratorMetadata,
  };
  return ts.transpileModule(SOURCE, { compilerOptions }).outputText;
}

const COMPILERS: [string, () => string][] = [
  ['tsc', () => byTypeScript(true)],
  ['tsc without emitDecoratorMetadata, as esbuild and tsx do', () => byTypeScript(false)],
  ['SWC', () => bySwc(true)],
  ['SWC without decoratorMetadata', () => bySwc(false)],
];

afterEach(stopApps);

describe.each(COMPILERS)('an application compiled by %s', (_compiler, translate) => {
  it.each(PLATFORMS)('is limited like any other, on $name', async (platform) => {
    const compiled: { AppModule?: typeof AppModule } = {};
    // oxlint-disable-next-line typescript/no-implied-eval -- what the compiler made of it is to be run, not what Jest makes
    new Function('require', 'exports', translate())(require, compiled);
    const app = await startApp(platform, { imports: [compiled.AppModule!] });
    const query = (isCheap: boolean): Promise<HttpAnswer> =>
      app.send({ path: '/query', method: 'POST', body: { isCheap } });
    compiled.AppModule!.controller.ask = async (isCheap) => (await query(isCheap)).status;

    expect(await app.statuses('/hourly', 3)).toEqual([200, 200, 429]);
    expect(await app.statuses('/free', 1)).toEqual([200]);
    const asked = await query(false);
    expect([asked.status, asked.body]).toEqual([200, '[429,200]']);
  });
});
