import { expectingErrors } from './acquisitions.js';
import { buildLimiter } from './limiter-builder.js';
import { OPERATIONS } from './operations.js';
import type { Scenario, Step } from './scenario.js';
import type { Subject } from './world.js';
import { settle, World } from './world.js';

/**
 * Runs the steps of a scenario one after the other.
 * @throws at the first step that goes otherwise than the scenario says, and for an operation that there isn't.
 */
export async function runScenario(scenario: Scenario): Promise<void> {
  const run = new Run(scenario);
  await run.steps(scenario.steps, 'step');
}

class Run {
  readonly #scenario: Scenario;
  readonly #world: World;
  #root: Subject | null = null;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#world = new World(scenario.clockStartMs);
  }

  async steps(steps: readonly Step[], path: string): Promise<void> {
    for (const [index, step] of steps.entries()) {
      const place = `${path} ${index} (${step.op})`;
      try {
        // Each step stands on what the ones before it have done.
        // oxlint-disable-next-line no-await-in-loop
        await this.#step(step, place);
      } catch (error) {
        throw path === 'step' ? new Error(`${place}: ${String(error)}`, { cause: error }) : error;
      }
    }
  }

  async #step(step: Step, place: string): Promise<void> {
    if (step.op === 'construct') {
      expectingErrors(step, () => this.#build());
      return;
    }
    if (step.op === 'repeat') return this.#repeat(step, place);
    const operation = OPERATIONS.get(step.op);
    if (operation === undefined) throw new Error(`There is no operation ${step.op}.`);
    const root = this.#root ?? this.#build();
    const limiter = step.on === undefined ? root : this.#world.subject(step.on);
    await operation(step, limiter, this.#world, step.expect ?? {});
    await settle();
  }

  async #repeat(step: Step, place: string): Promise<void> {
    for (let turn = 0; turn < (step.times ?? 0); turn++) {
      // oxlint-disable-next-line no-await-in-loop -- see above
      await this.steps(step.steps ?? [], `${place} turn ${turn}`);
    }
  }

  #build(): Subject {
    this.#root = buildLimiter(this.#scenario.limiter, this.#world) as Subject;
    return this.#root;
  }
}
