// Teaches `require` the TypeScript of this repository, for scripts that run its sources outside of Jest.
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { transformSync } = require('@swc/core');

/** @param {{ keep?: (file: string, transpile: () => string) => string }} options - `keep` may remember what was transpiled. */
function registerTypeScript({ keep = (_file, transpile) => transpile() } = {}) {
  Module._extensions['.ts'] = (module, file) => {
    const transpile = () => transformSync(readFileSync(file, 'utf8'), optionsFor(file)).code;
    module._compile(keep(file, transpile), file);
  };
  const resolve = Module._resolveFilename;
  Module._resolveFilename = function resolveTypeScript(request, parent, ...rest) {
    const isOurs = request.startsWith('.') && parent?.filename?.endsWith('.ts') === true;
    return resolve.call(this, isOurs ? request.replace(/\.js$/, '.ts') : request, parent, ...rest);
  };
}

function optionsFor(filename) {
  return {
    filename,
    jsc: { target: 'es2022', parser: { syntax: 'typescript' }, keepClassNames: true },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
  };
}

module.exports = { registerTypeScript };
