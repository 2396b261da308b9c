// `npm run simulate:overload`: how the limiters behave under overload. All but the last table is the same everywhere.
import { createRequire } from 'node:module';
import { watchTurns } from '../bench/harness/event-loop.mjs';

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
  const holds = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const served = crowdAtBoundary();
    // oxlint-disable-next-line no-await-in-loop -- round by round
    const { longestMs } = await watchTurns(() => served.length === BOUNDARY_WAITERS);
    // The first round is for the compiler.
    if (round > 0) holds.push(longestMs);
  }
  holds.sort((one, other) => one - other);
  const row = [holds[0], holds[Math.floor(ROUNDS / 2)], holds.at(-1)].map((ms) => `${ms.toFixed(2)} ms`);
  const title = `${BOUNDARY_WAITERS.toLocaleString('en')} waiters at one window boundary: longest hold of the event loop`;
  print(title, markdownTable(['least', `median of ${ROUNDS}`, 'most'], [row]));
}

function print(title, lines) {
  console.log(`\n${title}\n\n${lines.join('\n')}`);
}
