// Writes the Lua scripts of @ratelease/redis as TypeScript constants: includes resolved, comments left out, the files
// of the algorithms cut into their sections.
//
//   node scripts/embed-lua.mjs            writes libs/redis/src/scripts/sources.generated.ts
//   node scripts/embed-lua.mjs --check    fails where that file is not what it would write
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ROOT } from './libraries.mjs';

const FOLDER = join(ROOT, 'libs/redis/src/scripts/lua');
const TARGET = join(ROOT, 'libs/redis/src/scripts/sources.generated.ts');
const SCRIPTS = ['decide', 'give-back', 'release', 'renew'];
const ALGORITHMS = ['fixed-window', 'sliding-window', 'greedy-bucket', 'interval-bucket', 'concurrency'];

function read(name) {
  const text = readFileSync(join(FOLDER, `${name}.lua`), 'utf8');
  const resolved = text.replace(/^ *-- @include ([\w-]+)$/gm, (_line, included) => read(included));
  return resolved
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && (!line.startsWith('--') || line.startsWith('-- @')))
    .join('\n');
}

/** The lines `-- @word value` at the top, then the sections. */
function cut(name) {
  const parts = {};
  let section;
  for (const line of read(name).split('\n')) {
    const [, word, value] = /^-- @(\w+) ?(.*)$/.exec(line) ?? [];
    if (word === 'section' || word === 'functions') section = value === '' ? word : value;
    else if (word !== undefined) parts[word] = value;
    else parts[section] = section in parts ? `${parts[section]}\n${line}` : line;
  }
  return parts;
}

const camelCase = (name) => name.replaceAll(/[-_](\w)/g, (_match, letter) => letter.toUpperCase());
const entries = (names, read) => names.map((name) => `  ${camelCase(name)}: ${JSON.stringify(read(name))},`);

const source = [
  '// Written by scripts/embed-lua.mjs from the files in lua/. Change those, then run it.',
  '',
  '/** The texts of the scripts. */',
  'export const SCRIPTS = {',
  ...entries(SCRIPTS, read),
  '} as const;',
  '',
  '/** What the algorithms put into the scripts that decide and give back. */',
  'export const ALGORITHMS = {',
  ...entries(ALGORITHMS, cut),
  '} as const;',
  '',
].join('\n');
const wanted = await format(source, { ...(await resolveConfig(TARGET)), filepath: TARGET });

const unknown = readdirSync(FOLDER).filter((file) => !file.endsWith('.lua'));
if (unknown.length > 0) throw new Error(`Not Lua: ${unknown.join(', ')} in ${FOLDER}.`);

if (process.argv.includes('--check')) {
  if (readFileSync(TARGET, 'utf8') !== wanted) {
    console.error('sources.generated.ts is not what the Lua files make: run node scripts/embed-lua.mjs');
    process.exitCode = 1;
  }
} else {
  writeFileSync(TARGET, wanted);
}
