import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './markdown.js';
import type { Snippet } from './snippet.js';

/** What is wrong with the types of snippets, by their place. Each is a module of its own, checked against the sources. */
export function typeErrors(snippets: readonly Snippet[]): Map<string, string[]> {
  // What extends a module for itself would do so for all.
  const [augmenting, others] = [snippets.filter(isAugmenting), snippets.filter((one) => !isAugmenting(one))];
  const groups = [others, ...augmenting.map((one) => [one])];
  return new Map(groups.filter((group) => group.length > 0).flatMap((group) => [...errorsOf(group)]));
}

function isAugmenting({ code }: Snippet): boolean {
  return /^declare (module|global)/m.test(code);
}

/** The sources and declarations that all snippets have in common, read once. */
const parsed = new Map<string, ts.SourceFile>();

function errorsOf(snippets: readonly Snippet[]): Map<string, string[]> {
  const files = new Map(snippets.map((snippet, index) => [virtualPath(index), snippet]));
  const options = compilerOptions();
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path)?.code ?? readFile(path);
  host.getSourceFile = (path, ...settings) => {
    if (files.has(path)) return getSourceFile.call(host, path, ...settings);
    const source = parsed.get(path) ?? getSourceFile.call(host, path, ...settings);
    if (source !== undefined) parsed.set(path, source);
    return source;
  };
  const program = ts.createProgram([...files.keys()], options, host);
  const errors = new Map<string, string[]>();
  for (const [path, { place }] of files) {
    const source = program.getSourceFile(path)!;
    const diagnostics = [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ];
    errors.set(
      place,
      diagnostics.map((diagnostic) => shown(diagnostic, source)),
    );
  }
  return errors;
}

/** Beside this file, so that packages are found as from here; a module, so that it may await. */
function virtualPath(index: number): string {
  return join(__dirname, `snippet-${index}.mts`);
}

function compilerOptions(): ts.CompilerOptions {
  const path = join(ROOT, 'tsconfig.json');
  const { config } = ts.readConfigFile(path, (file) => ts.sys.readFile(file)) as { config: unknown };
  return ts.parseJsonConfigFileContent(config, ts.sys, ROOT).options;
}

function shown({ messageText, start }: ts.Diagnostic, source: ts.SourceFile): string {
  const line = source.text.slice(0, start).split('\n').length;
  return `line ${line} (${source.text.split('\n')[line - 1]?.trim()}): ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
}
