import { transformFileSync } from '@swc/core';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(__dirname, '../..');
/** Loaded only where Nest is: no process here has it. */
const NEST_PART = 'nestjs';

/** Packages as JavaScript that processes of their own can load, in a folder that is thrown away afterwards. */
export class TranspiledPackages {
  readonly folder = mkdtempSync(join(tmpdir(), 'ratelease-packages-'));

  /**
   * @param libraries - folders of `libs`: their sources are translated.
   * @param dependencies - installed packages that they need.
   */
  constructor(libraries: readonly string[], dependencies: readonly string[] = []) {
    for (const library of libraries) this.#transpile(library);
    for (const name of dependencies)
      symlinkSync(join(ROOT, 'node_modules', name), join(this.folder, 'node_modules', name));
  }

  /** A file of a translated library, by its path below `src`. */
  fileOf(library: string, path: string): string {
    return join(this.folder, 'node_modules/@ratelease', library, path);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  #transpile(library: string): void {
    const source = join(ROOT, 'libs', library, 'src');
    for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || file.endsWith('.spec.ts') || file.startsWith(NEST_PART)) continue;
      const { code } = transformFileSync(join(source, file), {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'commonjs' },
      });
      const written = this.fileOf(library, file.replace(/\.ts$/, '.js'));
      mkdirSync(dirname(written), { recursive: true });
      writeFileSync(written, code);
    }
  }
}
