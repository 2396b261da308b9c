import type { Scenario } from '../scenario.js';

/** The scenarios and their commands, for a terminal. */
export function overviewText(scenarios: readonly Scenario[], url: string): string {
  return scenarios.map((scenario, index) => scenarioText(scenario, index + 1, url)).join('\n');
}

function scenarioText(scenario: Scenario, number: number, url: string): string {
  const commands = scenario.commands(url).map(({ line, shows }) => `   ${line}\n     → ${shows}\n`);
  return `${number}. ${scenario.title}\n   ${scenario.promise}\n\n${commands.join('')}`;
}
