import type { LimiterDefinition } from './scenario.js';
import type { World } from './world.js';

/** The options of a built-in limiter: decoded, with the scenario's clock unless they bring one. */
export function buildOptions(definition: LimiterDefinition, world: World): unknown {
  const encoded = world.values.decode(definition.options);
  if (encoded === null || typeof encoded !== 'object') return encoded;
  const options: Record<string, unknown> = { clock: world.clock };
  for (const [name, value] of Object.entries(encoded)) options[name] = world.values.decode(value);
  return options;
}
