// Loads the specs and the sources below the working directory into this process, as CommonJS, once.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { join } from 'node:path';
import { registerTypeScript } from '../../../scripts/require-typescript.cjs';

const require = createRequire(import.meta.url);

const LIBRARY = join('libs', 'limiters');
/** Runs of a property that has no need of more to find what a mutant breaks; see docs/proof.md. */
const MOST_RUNS = Number(process.env.RATELEASE_MUTATION_RUNS ?? 8);

/** Specs of what cannot be seen from inside one process. */
const LEFT_OUT = [
  // Transpile the sources again, for processes of their own.
  /lifetime[/\\]process-exit\.spec\.ts$/,
  // Wait for the garbage collector.
  /lost-leases\.spec\.ts$/,
];

/** Keeps what was transpiled in the sandbox: each process of the run loads everything again. */
function keepTranspiled() {
  const folder = join(process.cwd(), '.transpiled');
  mkdirSync(folder, { recursive: true });
  return (file, transpile) => {
    const kept = join(folder, file.replaceAll(/[/\\:]/g, '+'));
    if (!existsSync(kept)) writeFileSync(kept, transpile());
    return readFileSync(kept, 'utf8');
  };
}

/** Lets properties try less, always the same, and be satisfied with the first counterexample. */
function registerShortProperties() {
  const load = Module._load;
  let short;
  Module._load = function loadShort(request, ...rest) {
    const loaded = load.call(this, request, ...rest);
    if (request !== 'fast-check') return loaded;
    short ??= { ...loaded, assert: (property, parameters) => loaded.assert(property, shortened(parameters)) };
    return short;
  };
}

function shortened(parameters) {
  const numRuns = Math.min(parameters?.numRuns ?? 100, MOST_RUNS);
  return { seed: 1, ...parameters, numRuns, endOnFailure: true };
}

/**
 * Runs with modules of its own, as `jest.isolateModules` does. What modules do while they are loaded counts for no test,
 * here as at first: else it would be tried, and only with the few tests that load them again.
 */
export function isolateModules(load) {
  const instrumenter = (globalThis.__stryker__ ??= {});
  const { currentTestId } = instrumenter;
  instrumenter.currentTestId = undefined;
  const ours = Object.entries(require.cache).filter(([file]) =>
    file.startsWith(join(process.cwd(), LIBRARY)),
  );
  for (const [file] of ours) delete require.cache[file];
  load();
  for (const [file, module] of ours) require.cache[file] = module;
  instrumenter.currentTestId = currentTestId;
}

/** Loads all specs; `begin` is told of each file before, and how that requires. */
export function loadSpecs(begin) {
  registerTypeScript({ keep: keepTranspiled() });
  registerShortProperties();
  const files = readdirSync(join(process.cwd(), LIBRARY), { recursive: true, encoding: 'utf8' })
    .filter(
      (file) =>
        /^(src|conformance)\b.*\.spec\.ts$/.test(file) && !LEFT_OUT.some((pattern) => pattern.test(file)),
    )
    .sort();
  for (const file of files) {
    const path = join(process.cwd(), LIBRARY, file);
    begin(join(LIBRARY, file), createRequire(path));
    require(path);
  }
}
