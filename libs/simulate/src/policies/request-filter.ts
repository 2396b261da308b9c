import { shown } from '../errors/shown.js';
import { SimulationError } from '../errors/simulation-error.js';
import type { TraceEntry } from '../trace/trace-entry.js';

/** Whether a policy applies to a request. */
export type AppliesTo = (entry: TraceEntry) => boolean;

/** The requests that a policy is for, by `paths` and `methods`. */
export function readFilter(
  policy: string,
  { paths, methods }: { readonly paths?: unknown; readonly methods?: unknown },
): AppliesTo {
  const patterns = readTexts(policy, 'paths', paths)?.map(patternOf);
  const names = readTexts(policy, 'methods', methods)?.map((name) => name.toUpperCase());
  return ({ path, method }) =>
    (patterns === undefined || (path !== undefined && patterns.some((pattern) => pattern.test(path)))) &&
    (names === undefined || (method !== undefined && names.includes(method)));
}

function readTexts(policy: string, option: string, value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const texts: unknown = Array.isArray(value) ? value : [value];
  if (
    Array.isArray(texts) &&
    texts.length > 0 &&
    texts.every((text) => typeof text === 'string' && text !== '')
  )
    return texts as string[];
  throw new SimulationError(
    'ERR_RL_INVALID_OPTION',
    `${policy}: ${option} must be a text or several, but got ${shown(value)}.`,
  );
}

function patternOf(text: string): RegExp {
  const literal = text.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}$`);
}
