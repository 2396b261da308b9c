import { transformFileSync } from '@swc/core';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const SOURCE = join(__dirname, '../../src');

/** The package as JavaScript that a process of its own can load, in a folder that is thrown away afterwards. */
export class TranspiledPackage {
  readonly #folder = mkdtempSync(join(tmpdir(), 'ratelease-limiters-'));

  constructor() {
    // Whatever stands in the folders above.
    writeFileSync(join(this.#folder, 'package.json'), '{ "type": "commonjs" }');
    for (const file of readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })) {
      if (file.endsWith('.ts') && !file.endsWith('.spec.ts')) this.#transpile(join(SOURCE, file));
    }
  }

  /** What to `require` in the process. */
  get main(): string {
    return join(this.#folder, 'index.js');
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }

  #transpile(file: string): void {
    const { code } = transformFileSync(file, {
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      module: { type: 'commonjs' },
    });
    const target = join(this.#folder, relative(SOURCE, file)).replace(/\.ts$/, '.js');
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, code);
  }
}
