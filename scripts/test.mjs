// Runs every test: units and e2e on Nest 12, then what depends on Nest again on Nest 11.
// Closes with one line that sums both runs. `--full` adds the specs that take long (*.full-spec.ts); other
// arguments go to Jest: `npm test -- token-bucket`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { staleFormats } from './built.mjs';
import { LIBRARIES, ROOT } from './libraries.mjs';

const RUNS = [
  { title: 'Nest 12', config: 'jest.config.cjs' },
  { title: 'Nest 11', config: 'jest.nest11.config.cjs' },
];

const full = process.argv.includes('--full');
const jestArguments = process.argv.slice(2).filter((argument) => argument !== '--full');

// test/packages packs what is built; npm test alone, after npm ci, has to do for it.
const packs = jestArguments.length === 0 || jestArguments.some((argument) => argument.includes('packages'));
if (packs && LIBRARIES.some(({ folder }) => staleFormats(folder).length > 0)) {
  console.log('Building the packages, which test/packages installs elsewhere.');
  const build = spawnSync(process.execPath, [join(ROOT, 'scripts/build.mjs')], { stdio: 'inherit' });
  if (build.status !== 0) process.exit(1);
}

const resultsFolder = mkdtempSync(join(tmpdir(), 'ratelease-test-'));
const total = { passed: 0, failed: 0 };
let healthy = true;

for (const run of RUNS) {
  console.log(`\n# Tests on ${run.title}`);
  const resultsFile = join(resultsFolder, `${run.config}.json`);
  const jest = spawnSync(
    process.execPath,
    [
      'node_modules/jest/bin/jest.js',
      `--config=${run.config}`,
      '--json',
      `--outputFile=${resultsFile}`,
      '--passWithNoTests',
      ...jestArguments,
    ],
    // Jest reports on stderr; with --json its stdout is the same results that the file holds.
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, RATELEASE_TEST_FULL: full ? '1' : '0' },
    },
  );
  if (jest.status !== 0) healthy = false;
  const results = readResults(resultsFile);
  total.passed += results.numPassedTests;
  // A suite that cannot be loaded has no tests to count: it counts as one failure.
  total.failed += results.numFailedTests + results.numRuntimeErrorTestSuites;
}

rmSync(resultsFolder, { recursive: true });
if (total.passed + total.failed === 0) {
  console.error('No test ran.');
  healthy = false;
}
console.log(`\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = healthy && total.failed === 0 ? 0 : 1;

function readResults(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    console.error('Jest wrote no results: it ended before it could run the tests.');
    healthy = false;
    return { numPassedTests: 0, numFailedTests: 0, numRuntimeErrorTestSuites: 0 };
  }
}
