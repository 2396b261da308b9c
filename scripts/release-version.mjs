// Prepares a release, to be looked at and committed: the changesets become a section of CHANGELOG.md and one new version
// of all packages.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { releasedChangelog } from './changelog-section.mjs';
import { ROOT } from './libraries.mjs';
import { runTool } from './run.mjs';

const folder = join(ROOT, '.changeset');
const changesets = readdirSync(folder)
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .map((name) => readFileSync(join(folder, name), 'utf8'));

if (changesets.length === 0) {
  console.error('There is no changeset: nothing to release. `npm run changeset` writes one.');
  process.exit(1);
}
if (!(await runTool('@changesets/cli/bin.js', ['version']))) process.exit(1);

const { version } = JSON.parse(readFileSync(join(ROOT, 'libs/limiters/package.json'), 'utf8'));
const path = join(ROOT, 'CHANGELOG.md');
const date = new Date().toISOString().slice(0, 10);
writeFileSync(path, releasedChangelog(readFileSync(path, 'utf8'), { version, date, changesets }));
console.log(
  `\nAll packages are ${version}. Next: npm install, npm run check, npm test, and look at the diff.`,
);
