// Compares the public API of each library with the report of it in docs/api, after a build.
//
//   node scripts/api-report.mjs            fails where they differ
//   node scripts/api-report.mjs --write    writes the reports anew: commit them with the change that needs it
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { LIBRARIES, ROOT } from './libraries.mjs';

const write = process.argv.includes('--write');
const reportFolder = join(ROOT, 'docs/api');
const reportTempFolder = join(ROOT, 'temp/api');
mkdirSync(reportFolder, { recursive: true });

const different = LIBRARIES.flatMap((library) => library.entries.map((entry) => ({ library, entry }))).filter(
  ({ library, entry }) => !isReported(library, entry),
);
for (const { entry } of different)
  console.error(`The public API of ${entry.name}: not as reported, or incomplete (see above).`);
if (different.length > 0) {
  console.error('If the change is meant: npm run api:update, and commit docs/api with it.');
  process.exitCode = 1;
}

function isReported(library, entry) {
  const config = ExtractorConfig.prepare({
    configObject: extractorConfig(library, entry),
    configObjectFullPath: undefined,
    packageJsonFullPath: join(library.folder, 'package.json'),
  });
  const exportedByMain = entry.subpath === '.' ? [] : reportedNames(library.entries[0]);
  const { succeeded, apiReportChanged } = Extractor.invoke(config, {
    localBuild: write,
    messageCallback: (message) => silence(message, exportedByMain),
  });
  if (apiReportChanged) showChange(entry);
  return succeeded && (write || !apiReportChanged);
}

/** What is new in an API, or gone; or, when it is written anew, that it was. */
function showChange(entry) {
  const name = reportFileName(entry);
  if (write) return console.log(`docs/api/${name} is written anew: commit it with the change.`);
  const both = [join(reportFolder, name), join(reportTempFolder, name)];
  const { stdout } = spawnSync('git', ['diff', '--no-index', '--unified=1', ...both], { encoding: 'utf8' });
  console.error(stdout.slice(stdout.indexOf('\n@@') + 1));
}

function extractorConfig(library, entry) {
  return {
    projectFolder: library.folder,
    newlineKind: 'lf',
    mainEntryPointFilePath: join(library.folder, 'dist/esm', entry.subpath, 'index.d.ts'),
    compiler: {
      overrideTsconfig: {
        extends: join(ROOT, 'tsconfig.base.json'),
        compilerOptions: { types: ['node'] },
        include: [join(library.folder, 'dist/esm/**/*.d.ts')],
      },
    },
    apiReport: {
      enabled: true,
      reportFolder,
      reportTempFolder,
      reportFileName: reportFileName(entry),
    },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    messages: {
      compilerMessageReporting: { default: { logLevel: 'error' } },
      extractorMessageReporting: {
        default: { logLevel: 'error' },
        // No release tags here: what the index exports is public.
        'ae-missing-release-tag': { logLevel: 'none' },
        // typedoc checks the doc comments and their links.
        'ae-undocumented': { logLevel: 'none' },
        'ae-unresolved-link': { logLevel: 'none' },
      },
      tsdocMessageReporting: { default: { logLevel: 'none' } },
    },
  };
}

function reportFileName(entry) {
  return `${entry.name.replace('@ratelease/', '').replaceAll('/', '-')}.api.md`;
}

/** The names in the report that was just made of this entry. */
function reportedNames(entry) {
  const report = readFileSync(join(reportTempFolder, reportFileName(entry)), 'utf8');
  return [...report.matchAll(/^export (?:abstract )?\w+ (\w+)/gm)].map(([, name]) => name);
}

function silence(message, exportedByMain) {
  // Of what api-extractor says about itself, only errors and warnings matter.
  if (message.logLevel === 'info' || message.logLevel === 'verbose') message.handled = true;
  if (message.messageId === 'console-compiler-version-notice') message.handled = true;
  // Speaks of copying files; we say what changed and what to do.
  if (message.messageId?.startsWith('console-api-report-')) message.handled = true;
  // What a second entry names without exporting it is public all the same if the package's first entry has it.
  const forgotten = message.messageId === 'ae-forgotten-export' && /symbol "(\w+)"/.exec(message.text)?.[1];
  if (forgotten && exportedByMain.includes(forgotten)) message.logLevel = 'none';
}
