// Tests run from the sources, transformed by SWC to CommonJS. Nest 12 is ESM only, and Jest on Node 20 cannot
// require() that, so the ESM-only packages below are transformed too. SWC checks no types: `npm run check` does.
const swc = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
  },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};

const ESM_ONLY = [
  '@nestjs',
  '@tokenizer',
  '@borewit',
  '@lukeed',
  'uid',
  'iterare',
  'file-type',
  'strtok3',
  'token-types',
  'uint8array-extras',
  'load-esm',
  'cookie',
  'content-disposition',
];

// `npm run test:full`: also the specs that take long (*.full-spec.ts).
const full = process.env.RATELEASE_TEST_FULL === '1';

/** @type {import('jest').Config} */
module.exports = {
  rootDir: __dirname,
  testEnvironment: 'node',
  // Jest leaves one core to the developer: on CI's two that would double the time. What takes long measures, too.
  maxWorkers: full ? 1 : '100%',
  // A worker that has loaded a compiler, or many applications, is several times slower at all that it runs afterwards.
  workerIdleMemoryLimit: '350MB',
  testSequencer: `${__dirname}/scripts/slow-first.cjs`,
  runtime: `${__dirname}/scripts/shared-sources.cjs`,
  // Only for what hangs. A busy machine makes sockets slow, takes half a minute to start a process, and that is no failure;
  // so a test names a time of its own only where it needs a longer one.
  testTimeout: 180_000,
  // A worker that is told to end frees all that it has loaded first, on a busy machine for longer than the half second after
  // which Jest kills it, as one that a test has left something open in. What is left open stays for longer than this, too.
  workerGracefulExitTimeout: 10_000,
  testRegex: `/(libs|apps|test)/.*\\.(spec|e2e-spec${full ? '|full-spec' : ''})\\.ts$`,
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/.stryker-tmp/'],
  modulePathIgnorePatterns: ['/dist/', '/.stryker-tmp/'],
  transform: { '^.+\\.(ts|js|mjs)$': ['@swc/jest', swc] },
  transformIgnorePatterns: [`/node_modules/(?!(?:.*/node_modules/)?(?:${ESM_ONLY.join('|')})/)`],
  moduleNameMapper: {
    '^@ratelease/(limiters|nestjs|redis|active-session|simulate|dashboard)$':
      '<rootDir>/libs/$1/src/index.ts',
    '^@ratelease/(limiters|redis|simulate)/(testing|nestjs|charts)$': '<rootDir>/libs/$1/src/$2/index.ts',
    '^(\\.{1,2}/.*)\\.js$': ['$1', '$1.js'],
  },
  coverageProvider: 'v8',
  collectCoverageFrom: ['libs/*/src/**/*.ts', '!**/*.spec.ts', '!**/index.ts'],
};
