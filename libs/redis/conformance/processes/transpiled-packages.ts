import { transformFileSync } from '@swc/core';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const LIBS = join(__dirname, '../../..');
const NODE_MODULES = join(LIBS, '../node_modules');

/** The packages as JavaScript that processes of their own can load, in a folder that is thrown away afterwards. */
export class TranspiledPackages {
  readonly folder = mkdtempSync(join(tmpdir(), 'ratelease-packages-'));

  constructor() {
    for (const name of ['limiters', 'redis']) this.#transpile(name);
    for (const name of ['ioredis', 'redis', '@redis'])
      symlinkSync(join(NODE_MODULES, name), join(this.folder, 'node_modules', name));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  #transpile(name: string): void {
    const source = join(LIBS, name, 'src');
    const target = join(this.folder, 'node_modules/@ratelease', name);
    for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || file.endsWith('.spec.ts') || file.startsWith('nestjs')) continue;
      const { code } = transformFileSync(join(source, file), {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'commonjs' },
      });
      const written = join(target, relative(source, join(source, file))).replace(/\.ts$/, '.js');
      mkdirSync(dirname(written), { recursive: true });
      writeFileSync(written, code);
    }
  }
}
