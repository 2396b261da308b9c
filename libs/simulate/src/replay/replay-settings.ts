import { shown } from '../errors/shown.js';
import { SimulationError } from '../errors/simulation-error.js';
import type { OutcomeListener, SimulationOptions } from '../simulation-options.js';

/** The options of a simulation, checked and with their defaults. */
export interface ReplaySettings {
  readonly durationMs: number | undefined;
  readonly maxWaitMs: number;
  readonly reorderWindowMs: number;
  readonly spreadSeconds: boolean;
  readonly topKeys: number;
  readonly stepMs: number | undefined;
  readonly onOutcome: OutcomeListener | undefined;
}

/** @throws SimulationError - for unknown options and for bad values. */
export function readSettings(options: SimulationOptions): ReplaySettings {
  const { durationMs, maxWaitMs, reorderWindowMs, spreadSeconds, topKeys, stepMs, onOutcome, ...unknown } =
    options;
  const [name] = Object.keys(unknown);
  if (name !== undefined)
    throw new SimulationError(
      'ERR_RL_UNKNOWN_OPTION',
      `simulate: there is no option ${shown(name)}. There are durationMs, maxWaitMs, reorderWindowMs, spreadSeconds, ` +
        'topKeys, stepMs and onOutcome.',
    );
  return {
    durationMs: milliseconds('durationMs', durationMs),
    maxWaitMs: maxWaitMs === Infinity ? Infinity : (milliseconds('maxWaitMs', maxWaitMs) ?? Infinity),
    reorderWindowMs: milliseconds('reorderWindowMs', reorderWindowMs) ?? 60_000,
    spreadSeconds: spreadSeconds === true,
    topKeys: milliseconds('topKeys', topKeys) ?? 10,
    stepMs: stepOf(milliseconds('stepMs', stepMs)),
    onOutcome,
  };
}

function milliseconds(option: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw new SimulationError(
    'ERR_RL_INVALID_OPTION',
    `simulate: ${option} must be a finite number of at least 0, but got ${shown(value)}.`,
  );
}

function stepOf(value: number | undefined): number | undefined {
  if (value !== 0) return value;
  throw new SimulationError('ERR_RL_INVALID_OPTION', 'simulate: stepMs must be above 0, but got 0.');
}
