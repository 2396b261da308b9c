// What tsc does with a project, but in this process: the declarations of Node and of what is installed are read once for
// all projects that are compiled one after the other, which is most of the time that each takes.
import { join, sep } from 'node:path';
import ts from 'typescript';

/** What is installed doesn't change during a build. By its path, and by what says how it is to be read. */
const installed = new Map();

const format = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: ts.sys.getCurrentDirectory,
  getNewLine: () => ts.sys.newLine,
};

/**
 * Compiles a project, and reports what is wrong with it.
 *
 * @param {string} folder
 * @param {string} project - the name of its tsconfig
 * @param {ts.CompilerOptions} [compilerOptions] - they win over those of the tsconfig
 * @returns {boolean} whether nothing is wrong
 */
export function compile(folder, project, compilerOptions = {}) {
  const unreadable = [];
  const config = ts.getParsedCommandLineOfConfigFile(join(folder, project), compilerOptions, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (diagnostic) => unreadable.push(diagnostic),
  });
  if (config === undefined) return report(unreadable);
  const { fileNames, options, errors, projectReferences } = config;
  const program = ts.createProgram({
    rootNames: fileNames,
    options,
    projectReferences,
    configFileParsingDiagnostics: errors,
    host: hostFor(options),
  });
  const found = ts.getPreEmitDiagnostics(program);
  const { diagnostics } = program.emit();
  return report([...found, ...diagnostics]);
}

function hostFor(options) {
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, parsing, ...others) => {
    if (!name.includes(`${sep}node_modules${sep}`)) return read(name, parsing, ...others);
    const key = `${options.module} ${parsing.impliedNodeFormat} ${name}`;
    if (!installed.has(key)) installed.set(key, read(name, parsing, ...others));
    return installed.get(key);
  };
  return host;
}

function report(diagnostics) {
  const sorted = ts.sortAndDeduplicateDiagnostics(diagnostics);
  const said = process.stderr.isTTY ? ts.formatDiagnosticsWithColorAndContext : ts.formatDiagnostics;
  if (sorted.length > 0) console.error(said(sorted, format));
  return !diagnostics.some(({ category }) => category === ts.DiagnosticCategory.Error);
}
