// The libraries of the repository, in the order in which they build: what stands lower comes first.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

const BUILD_ORDER = ['limiters', 'nestjs', 'redis', 'active-session', 'dashboard', 'simulate'];

/** @typedef {{ folder: string, name: string, entries: { subpath: string, name: string, source: string }[] }} Library */

/**
 * Those that are published: a private package is planned, and has nothing to build yet.
 *
 * @type {Library[]}
 */
export const LIBRARIES = BUILD_ORDER.map(describe).filter((library) => library !== undefined);

function describe(shortName) {
  const folder = join(ROOT, 'libs', shortName);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (manifest.private) return undefined;
  const entries = Object.keys(manifest.exports)
    .filter((subpath) => subpath !== './package.json')
    .map((subpath) => describeEntry(folder, manifest.name, subpath));
  return { folder, name: manifest.name, entries };
}

/** `./testing` of @ratelease/limiters is src/testing/index.ts, and imported as @ratelease/limiters/testing. */
function describeEntry(folder, packageName, subpath) {
  const path = subpath.slice(1);
  const source = join(folder, 'src', path, 'index.ts');
  if (!existsSync(source))
    throw new Error(`${packageName} exports "${subpath}", but ${source} does not exist.`);
  return { subpath, name: `${packageName}${path}`, source };
}
