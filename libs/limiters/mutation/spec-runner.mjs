// A test runner for Stryker that loads the specs once and then runs, for each mutant, only the tests that reach it,
// those first that are quick and have found others. Jest itself would load every spec anew for every mutant: seconds instead of milliseconds.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { PluginKind, declareFactoryPlugin, tokens } from '@stryker-mutator/api/plugin';
import {
  DryRunStatus,
  TestStatus,
  determineHitLimitReached,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import { runTest } from './run-test.mjs';
import { SpecSuite } from './spec-suite.mjs';

/** Where instrumented code looks for the mutant that is active, and notes what is covered. */
const instrumenter = (globalThis.__stryker__ ??= {});

/** How much processor time the tests took, for the processes that come after; below the working directory, which is the sandbox. */
const DURATIONS = '.durations.json';

/**
 * A mutant that so much of testing has not found counts as not found, though the slowest tests haven't been tried: it
 * errs on the strict side. In milliseconds of the processor as of the first run, so that it ends with the same test
 * each time, however busy the machine is.
 */
const LONGEST_SEARCH_MS = Number(process.env.RATELEASE_MUTATION_SEARCH_MS ?? 4_000);

/** Properties take longer, and find more: they come behind the tests of a few milliseconds, but not last. */
const PROPERTIES = /conformance[/\\]model[/\\]/;
const EXPECTED_OF_PROPERTIES = 5;

/** What a test finds for the time that it takes. */
function promise({ tookMs, found }) {
  return (1 + found) / (1 + tookMs);
}

class SpecRunner {
  #suite;

  capabilities() {
    return { reloadEnvironment: false };
  }

  async dryRun() {
    const tests = [];
    for (const test of this.#loaded().tests) {
      instrumenter.currentTestId = test.id;
      const before = process.cpuUsage();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      tests.push(await this.#result(test));
      const { user, system } = process.cpuUsage(before);
      test.tookMs = (user + system) / 1_000;
    }
    instrumenter.currentTestId = undefined;
    writeFileSync(
      DURATIONS,
      JSON.stringify(Object.fromEntries(this.#loaded().tests.map(({ id, tookMs }) => [id, tookMs]))),
    );
    return { status: DryRunStatus.Complete, tests, mutantCoverage: instrumenter.mutantCoverage };
  }

  async mutantRun({ activeMutant, mutantActivation, testFilter, hitLimit, disableBail }) {
    if (mutantActivation === 'static') instrumenter.activeMutant = activeMutant.id;
    const { tests } = this.#loaded();
    const reaching = testFilter === undefined ? tests : tests.filter(({ id }) => testFilter.includes(id));
    Object.assign(instrumenter, { activeMutant: activeMutant.id, hitCount: hitLimit && 0, hitLimit });
    const results = [];
    let leftMs = LONGEST_SEARCH_MS;
    for (const test of reaching.sort((one, other) => promise(other) - promise(one))) {
      leftMs -= test.tookMs;
      if (leftMs < 0) break;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      results.push(await this.#result(test));
      if (results.at(-1).status !== TestStatus.Failed) continue;
      test.found++;
      if (!disableBail) break;
    }
    instrumenter.activeMutant = undefined;
    const tooOften = determineHitLimitReached(instrumenter.hitCount, hitLimit);
    return toMutantRunResult(tooOften ?? { status: DryRunStatus.Complete, tests: results }, disableBail);
  }

  #loaded() {
    if (this.#suite === undefined) {
      this.#suite = new SpecSuite();
      this.#suite.load();
      const durations = existsSync(DURATIONS) ? JSON.parse(readFileSync(DURATIONS, 'utf8')) : {};
      for (const test of this.#suite.tests) {
        const found = PROPERTIES.test(test.fileName) ? EXPECTED_OF_PROPERTIES : 0;
        Object.assign(test, { tookMs: durations[test.id] ?? 0, found });
      }
    }
    return this.#suite;
  }

  async #result(test) {
    const begin = performance.now();
    const failure = await runTest(test);
    const { id, name, fileName } = test;
    const timeSpentMs = performance.now() - begin;
    const result = { id, name, fileName, timeSpentMs };
    if (failure === undefined) return { ...result, status: TestStatus.Success };
    return { ...result, status: TestStatus.Failed, failureMessage: String(failure?.message ?? failure) };
  }
}

export const strykerPlugins = [
  declareFactoryPlugin(
    PluginKind.TestRunner,
    'specs',
    Object.assign(() => new SpecRunner(), { inject: tokens() }),
  ),
];
