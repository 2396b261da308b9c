import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { format } from 'node:util';
import ts from 'typescript';
import type { Snippet } from './snippet.js';

/** What a snippet has done. */
export interface SnippetRun {
  /** What it printed, line by line. */
  readonly printed: string[];
  readonly exports: { readonly AppModule?: Type };
}

type SnippetFunction = (
  require: NodeJS.Require,
  exports: object,
  console: { log(...values: unknown[]): void },
) => Promise<void>;

type SpecFunction = (require: NodeJS.Require, exports: object) => void;

const AsyncFunction = (async () => undefined).constructor as new (...parts: string[]) => SnippetFunction;

/** Runs a snippet as a module, with the packages' sources. Rejects with what it throws. */
export async function runSnippet({ code }: Snippet): Promise<SnippetRun> {
  const printed: string[] = [];
  const exports = {};
  const run = new AsyncFunction('require', 'exports', 'console', translated(code));
  await run(require, exports, { log: (...values) => printed.push(format(...values)) });
  return { printed, exports };
}

/** Declares the tests of a snippet, in the test runner that calls it. */
export function declareSpec({ code }: Snippet): void {
  // oxlint-disable-next-line typescript/no-implied-eval
  const declare = new Function('require', 'exports', translated(code)) as SpecFunction;
  declare(require, {});
}

function translated(code: string): string {
  const compilerOptions: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.CommonJS,
    esModuleInterop: true,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    useDefineForClassFields: false,
  };
  return ts.transpileModule(code, { compilerOptions }).outputText;
}

/** What the comments of a snippet say that it prints. */
export function expectedPrints({ code }: Snippet): string[] {
  return code.split('\n').flatMap((line) => {
    if (!line.includes('console.log(')) return [];
    const expected = /; \/\/ → ?(.*)$/.exec(line)?.[1];
    if (expected === undefined) throw new Error(`Say what it prints, as "; // → text": ${line}`);
    return [expected];
  });
}

/** Starts and ends the application of a snippet. */
export async function bootSnippet({ exports }: SnippetRun, adapter: AbstractHttpAdapter): Promise<void> {
  if (exports.AppModule === undefined) throw new Error('The snippet exports no AppModule.');
  const app = await NestFactory.create(exports.AppModule, adapter, { logger: false, abortOnError: false });
  try {
    await app.listen(0, '127.0.0.1');
  } finally {
    await app.close();
  }
}
