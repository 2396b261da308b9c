// Mutation testing of the limiters: `npm run test:mutation`, or a part of it with `-- --mutate 'libs/limiters/src/queue/*.ts,!**/*.spec.ts'`.
// It is long, and run by hand or nightly; docs/proof.md has the figures. What was found is kept in reports/mutation, so
// that the next run only tries what has changed since.

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
// oxlint-disable-next-line import/no-default-export -- Stryker wants it
export default {
  plugins: ['./libs/limiters/mutation/spec-runner.mjs', './libs/limiters/mutation/zero-offsets.mjs'],
  testRunner: 'specs',
  coverageAnalysis: 'perTest',
  mutate: ['libs/limiters/src/**/*.ts', '!**/*.spec.ts', '!**/index.ts'],
  // The limiters depend on nothing else: the sandbox needs no more.
  ignorePatterns: ['**', '!libs/limiters/src/**', '!libs/limiters/conformance/**'],
  ignorers: ['zero-offsets'],
  disableTypeChecks: false,
  // Those run when a module is loaded need a process of their own each, and all tests: too long for what they tell.
  ignoreStatic: true,
  concurrency: 1,
  // A mutant that loops for ever: the machine may be busy, so this is generous.
  timeoutMS: 15_000,
  timeoutFactor: 0.25,
  // What a mutant left behind in the modules is gone with the process.
  maxTestRunnerReuse: 200,
  incremental: true,
  incrementalFile: 'reports/mutation/incremental.json',
  reporters: ['clear-text', 'json', 'html', 'progress-append-only'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: 'reports/mutation/mutation.json' },
  htmlReporter: { fileName: 'reports/mutation/mutation.html' },
  thresholds: { high: 95, low: 90, break: 90 },
};
