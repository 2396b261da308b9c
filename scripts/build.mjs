// Builds each library as ESM and as CommonJS, with types; `demo` after it also the demo, then only as ESM.
//
//   node scripts/build.mjs             the libraries, as they are published
//   node scripts/build.mjs demo        what the demo needs and isn't built yet, and the demo
//   node scripts/build.mjs limiters    one library, named as its folder
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { hashOfSources, staleFormats, stamp } from './built.mjs';
import { compile } from './compile.mjs';
import { LIBRARIES, ROOT } from './libraries.mjs';

// The sources are checked as Node's own ESM (file names with extension); the CommonJS run only translates them.
const FORMATS = {
  esm: { type: 'module', compilerOptions: {} },
  cjs: {
    type: 'commonjs',
    compilerOptions: {
      module: ts.ModuleKind.CommonJS,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
    },
  },
};

const [what] = process.argv.slice(2);
const withDemo = what === 'demo';
const demo = join(ROOT, 'apps/demo');
const wanted = withDemo
  ? neededByDemo()
  : LIBRARIES.filter(({ folder }) => what === undefined || basename(folder) === what);
if (wanted.length === 0 && !withDemo) throw new Error(`There is no library ${what} to build.`);
const formats = withDemo ? ['esm'] : ['esm', 'cjs'];

// Somebody waits for it who has asked for the demo, not for a build.
if (withDemo) console.log('Building the demo, which takes some seconds …');

for (const library of wanted) {
  // Only what is built anew: the demo needs no CommonJS, but whoever packs afterwards does.
  for (const format of formats)
    rmSync(join(library.folder, 'dist', format), { recursive: true, force: true });
  if (!formats.every((format) => buildLibrary(library.folder, format))) stop(library.name);
  cpSync(join(ROOT, 'LICENSE'), join(library.folder, 'LICENSE'));
}

if (withDemo) {
  rmSync(join(demo, 'dist'), { recursive: true, force: true });
  if (!compile(demo, 'tsconfig.app.json')) stop('the demo');
}

/** Who starts the demo again doesn't wait for what is there: whether everything fits is for `npm run build` to say. */
function neededByDemo() {
  const { dependencies } = JSON.parse(readFileSync(join(demo, 'package.json'), 'utf8'));
  return LIBRARIES.filter(({ name, folder }) => name in dependencies && staleFormats(folder).includes('esm'));
}

function buildLibrary(folder, format) {
  const { type, compilerOptions } = FORMATS[format];
  const outDir = join(folder, 'dist', format);
  // Taken before, so that what is changed meanwhile counts as not built.
  const hash = hashOfSources(folder);
  // Then there is nothing in dist, and no package.json that says that there is.
  if (!compile(folder, 'tsconfig.lib.json', { outDir, ...compilerOptions })) return false;
  mkdirSync(outDir, { recursive: true });
  // Says to Node and to TypeScript what the .js and .d.ts files of this folder are.
  writeFileSync(join(outDir, 'package.json'), `${JSON.stringify({ type })}\n`);
  stamp(folder, format, hash);
  return true;
}

function stop(what) {
  console.error(`${what} does not compile: see above.`);
  process.exit(1);
}
