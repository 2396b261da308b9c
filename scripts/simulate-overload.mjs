// `npm run simulate:overload`: how the limiters behave under overload. All but the last table is the same everywhere.
import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';

const require = createRequire(import.meta.url);
require('./require-typescript.cjs').registerTypeScript();
const { markdownTable, overloadTable } = require('../libs/limiters/simulation/markdown.ts');
const { SIMULATED_MS, simulateOverload } = require('../libs/limiters/simulation/overload.ts');
const { BOUNDARY_WAITERS, crowdAtBoundary } = require('../libs/limiters/simulation/window-boundary.ts');

const ROUNDS = 7;

for (const table of await simulateOverload(SIMULATED_MS)) print(table.title, overloadTable(table));
await measureBoundary();

/** Ten thousand who wait for the same moment: how long does the event loop have no time for others? */
async function measureBoundary() {
  const rounds = [];
  // oxlint-disable-next-line no-await-in-loop -- round by round; the first is for the compiler
  for (let round = 0; round <= ROUNDS; round++) rounds.push(await holdsOfBatches());
  // A busy machine takes the processor away now and then: of each batch the quickest counts.
  const quickest = rounds[1].map((_, batch) => Math.min(...rounds.slice(1).map((holds) => holds[batch])));
  const all = rounds
    .slice(1)
    .flat()
    .sort((one, other) => one - other);
  const figures = [Math.max(...quickest), all[Math.floor(all.length / 2)]].map((ms) => `${ms.toFixed(2)} ms`);
  print(
    `${BOUNDARY_WAITERS.toLocaleString('en')} waiters at one window boundary: the event loop is held for`,
    markdownTable(
      ['batches', `by the longest batch, each at its best of ${ROUNDS} rounds`, 'by the median batch'],
      [[String(quickest.length), ...figures]],
    ),
  );
}

/** The milliseconds of the turns of the event loop in which waiters were served. */
async function holdsOfBatches() {
  const served = crowdAtBoundary();
  const holds = [];
  let before = 0;
  let last = performance.now();
  while (served.length < BOUNDARY_WAITERS) {
    // oxlint-disable-next-line no-await-in-loop -- turn by turn
    await nextTurn();
    const now = performance.now();
    if (served.length > before) holds.push(now - last);
    before = served.length;
    last = now;
  }
  return holds;
}

function print(title, lines) {
  console.log(`\n${title}\n\n${lines.join('\n')}`);
}
