// Builds the libraries, then runs the benchmarks: every bench/*.bench.mjs, or those whose name contains an
// argument. `npm run bench -- token-bucket`
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './libraries.mjs';

const folder = join(ROOT, 'bench');
const wanted = process.argv.slice(2);
const benchmarks = (existsSync(folder) ? readdirSync(folder) : [])
  .filter((file) => file.endsWith('.bench.mjs'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .toSorted();

if (benchmarks.length === 0) {
  console.error('No benchmark to run: bench/ has no matching *.bench.mjs.');
  process.exit(1);
}
run(join(ROOT, 'scripts/build.mjs'));
for (const file of benchmarks) run('--expose-gc', join(folder, file));

function run(...nodeArguments) {
  const { status } = spawnSync(process.execPath, nodeArguments, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
