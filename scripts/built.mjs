// Whether what is in a library's dist was built from what is in its sources now.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { ROOT } from './libraries.mjs';

/** What a build is made of besides the sources of the library; its package.json is packed as it is. */
const SETTINGS = ['tsconfig.base.json', 'scripts/build.mjs', 'scripts/compile.mjs'];

/**
 * A hash of everything that the build of a library is made of.
 *
 * @param {string} folder - the library's
 */
export function hashOfSources(folder) {
  const hash = createHash('sha256');
  const sources = readdirSync(join(folder, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('spec.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const settings = [...SETTINGS.map((path) => join(ROOT, path)), join(folder, 'tsconfig.lib.json')];
  for (const path of [...settings, ...sources]) {
    // Settings are told apart by their order; where the library lies is no matter.
    if (path.startsWith(folder)) hash.update(`${relative(folder, path)}\n`);
    hash.update(readFileSync(path)).update('\n');
  }
  return hash.digest('hex');
}

/** Notes what a library's build of this format was made of: beside the packages, which ship all of their dist. */
export function stamp(folder, format, hash) {
  const path = stampOf(folder, format);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, hash);
}

/** The formats (`esm`, `cjs`) of a library that have to be built, or built again. */
export function staleFormats(folder) {
  const hash = hashOfSources(folder);
  return ['esm', 'cjs'].filter((format) => {
    const path = stampOf(folder, format);
    const isThere = existsSync(join(folder, 'dist', format, 'package.json')) && existsSync(path);
    return !isThere || readFileSync(path, 'utf8') !== hash;
  });
}

function stampOf(folder, format) {
  return join(ROOT, 'temp/built', `${basename(folder)}-${format}`);
}
