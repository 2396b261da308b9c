// Checks the built libraries as their users meet them: packed, by import, by require, and by every module
// resolution of TypeScript.
import { spawnSync } from 'node:child_process';
import { LIBRARIES, ROOT } from './libraries.mjs';
import { runTool } from './run.mjs';

const printNames = `const print = module => console.log(Object.keys(module).filter(isName).sort().join());
  const isName = name => name !== 'default' && name !== 'module.exports' && name !== '__esModule';`;

const faults = [];

for (const library of LIBRARIES) {
  if (!(await runTool('publint/src/cli.js', [library.folder, '--strict'])))
    faults.push(`publint ${library.name}`);
  const attw = ['--pack', library.folder, '--no-emoji', '--format', 'ascii', '--quiet'];
  if (!(await runTool('@arethetypeswrong/cli/dist/index.js', attw))) faults.push(`attw ${library.name}`);
  for (const { name } of library.entries) checkLoading(name);
}

for (const fault of faults) console.error(`Failed: ${fault}`);
process.exitCode = faults.length === 0 ? 0 : 1;

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
