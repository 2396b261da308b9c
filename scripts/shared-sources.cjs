// Jest's runtime, which keeps the sources of installed packages for all the test files of a worker: it reads every one of
// them again for each file, some thousand where an application of Nest boots. They don't change during a run.
const { sep } = require('node:path');
const { default: Runtime } = require('jest-runtime');

const INSTALLED = `${sep}node_modules${sep}`;
const installed = new Map();

/** The sources that one test file has read, those of installed packages shared with the others. */
class Sources extends Map {
  get(path) {
    return super.get(path) ?? installed.get(path);
  }

  set(path, source) {
    if (!path.includes(INSTALLED)) return super.set(path, source);
    installed.set(path, source);
    return this;
  }
}

exports.__esModule = true;
exports.default = class extends Runtime {
  // oxlint-disable-next-line max-params -- Jest's own
  constructor(config, environment, resolver, transformer, sources, ...others) {
    super(config, environment, resolver, transformer, new Sources(sources), ...others);
  }
};
