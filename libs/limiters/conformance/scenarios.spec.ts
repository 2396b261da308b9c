import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runScenario } from './run-scenario.js';
import type { Scenario } from './scenario.js';

const file = join(__dirname, 'scenarios.json');
const { scenarios } = JSON.parse(readFileSync(file, 'utf8')) as { scenarios: Scenario[] };

describe('the scenarios of scenarios.json', () => {
  it.each(scenarios)('$id', (scenario) => runScenario(scenario));

  it('have unique ids', () => {
    expect(new Set(scenarios.map(({ id }) => id)).size).toBe(scenarios.length);
  });
});
