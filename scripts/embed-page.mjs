// Writes what runs in a browser as TypeScript constants: the modules of the dashboard's page, translated file by file,
// its HTML and CSS, uPlot with its license, and the controls that the demo adds. So nothing reads files when it runs,
// in either format and in a bundle.
//
//   node scripts/embed-page.mjs            writes the *.generated.ts of libs/dashboard and of apps/demo
//   node scripts/embed-page.mjs --check    fails where they are not what it would write
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';
import { ROOT } from './libraries.mjs';

const FOLDER = join(ROOT, 'libs/dashboard/page');
const UPLOT = join(ROOT, 'node_modules/uplot');
const CONTROLS = join(ROOT, 'apps/demo/page');
const TYPES = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
};

const read = (folder, name) => readFileSync(join(folder, name), 'utf8');

function translated(folder, name) {
  const { outputText, diagnostics } = ts.transpileModule(read(folder, name), {
    fileName: name,
    reportDiagnostics: true,
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ES2022,
      removeComments: true,
      useDefineForClassFields: true,
    },
  });
  if (diagnostics.length > 0)
    throw new Error(`${name}: ${ts.flattenDiagnosticMessageText(diagnostics[0].messageText, ' ')}`);
  return outputText;
}

function pageFiles() {
  return readdirSync(FOLDER).flatMap((name) => {
    if (name.endsWith('.ts')) return [[name.replace(/\.ts$/, '.js'), translated(FOLDER, name)]];
    return name in { 'index.html': 1, 'page.css': 1 } ? [[name, read(FOLDER, name)]] : [];
  });
}

function uplotFiles() {
  const license = `/*\n${read(UPLOT, 'LICENSE').trim()}\n*/\n`;
  return [
    ['uplot.js', license + read(UPLOT, 'dist/uPlot.iife.min.js')],
    ['uplot.css', license + read(UPLOT, 'dist/uPlot.min.css')],
  ];
}

function pageSource() {
  const files = [...pageFiles(), ...uplotFiles()].sort(([one], [other]) => (one < other ? -1 : 1));
  return [
    '// Written by scripts/embed-page.mjs from the files in page/ and from uPlot. Change those, then run it.',
    '',
    '/** A file of the page. */',
    'export interface Asset {',
    '  readonly type: string;',
    '  readonly text: string;',
    '}',
    '',
    '/** The files of the page by their names. */',
    "export const ASSETS: Readonly<Record<string, Asset>> & { readonly 'index.html': Asset } = {",
    ...files.map(
      ([name, text]) =>
        `  ${JSON.stringify(name)}: { type: ${JSON.stringify(TYPES[extname(name)])}, text: ${JSON.stringify(text)} },`,
    ),
    '};',
    '',
  ].join('\n');
}

function controlsSource() {
  return [
    '// Written by scripts/embed-page.mjs from page/controls.ts. Change that, then run it.',
    '',
    '/** The module that adds the controls to the dashboard. */',
    `export const CONTROLS = ${JSON.stringify(translated(CONTROLS, 'controls.ts'))};`,
    '',
  ].join('\n');
}

const SOURCES = [
  ['libs/dashboard/src/assets/assets.generated.ts', pageSource()],
  ['apps/demo/src/traffic/controls.generated.ts', controlsSource()],
];

for (const [name, source] of SOURCES) {
  const target = join(ROOT, name);
  const wanted = await format(source, { ...(await resolveConfig(target)), filepath: target });
  if (!process.argv.includes('--check')) writeFileSync(target, wanted);
  else if (readFileSync(target, 'utf8') !== wanted) {
    console.error(`${name} is not what its sources make: run node scripts/embed-page.mjs`);
    process.exitCode = 1;
  }
}
