// Checks the built libraries as their users meet them: packed, by import, by require, and by every module
// resolution of TypeScript.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LIBRARIES, ROOT } from './libraries.mjs';
import { runTool } from './run.mjs';

const printNames = `const print = module => console.log(Object.keys(module).filter(isName).sort().join());
  const isName = name => name !== 'default' && name !== 'module.exports' && name !== '__esModule';`;

const faults = [];

const folder = mkdtempSync(join(tmpdir(), 'ratelease-packed-'));
try {
  for (const [name, tarball] of pack()) {
    if (!(await runTool('publint/src/cli.js', [tarball, '--strict']))) faults.push(`publint ${name}`);
    const attw = [tarball, '--no-emoji', '--format', 'ascii', '--quiet'];
    if (!(await runTool('@arethetypeswrong/cli/dist/index.js', attw))) faults.push(`attw ${name}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
for (const { entries } of LIBRARIES) for (const { name } of entries) checkLoading(name);

for (const fault of faults) console.error(`Failed: ${fault}`);
process.exitCode = faults.length === 0 ? 0 : 1;

/** The tarball of each library. Both tools would pack by themselves: each time a whole npm, most of what they take. */
function pack() {
  const workspaces = LIBRARIES.flatMap(({ name }) => ['--workspace', name]);
  const npm = ['pack', '--silent', '--json', '--pack-destination', folder, ...workspaces];
  const packed = JSON.parse(execFileSync('npm', npm, { cwd: ROOT, encoding: 'utf8' }));
  const filenames = new Map(packed.map(({ name, filename }) => [name, filename]));
  return LIBRARIES.map(({ name }) => [name, join(folder, filenames.get(name))]);
}

/** Both formats load, alone, and export the same names. */
function checkLoading(name) {
  const byImport = exportedNames([
    '--input-type=module',
    '-e',
    `${printNames} print(await import('${name}'));`,
  ]);
  const byRequire = exportedNames([
    '--input-type=commonjs',
    '-e',
    `${printNames} print(require('${name}'));`,
  ]);
  if (byImport === undefined || byImport !== byRequire)
    faults.push(`loading ${name} by import and by require`);
}

function exportedNames(nodeArguments) {
  const node = spawnSync(process.execPath, nodeArguments, { cwd: ROOT, encoding: 'utf8' });
  if (node.status !== 0) console.error(node.stderr);
  return node.status === 0 ? node.stdout : undefined;
}
