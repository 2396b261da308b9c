import { shown } from '../errors/shown.js';
import { SimulationError } from '../errors/simulation-error.js';
import type { TraceEntry } from '../trace/trace-entry.js';
import { clientNetwork } from './client-network.js';
import type { PolicyKey } from './policy-options.js';

/** The key of a request, or `undefined` where it has none. */
export type KeyOf = (entry: TraceEntry) => string | undefined;

const KNOWN: Readonly<Record<string, KeyOf>> = {
  shared: () => 'shared',
  ip: ({ ip }) => (ip === undefined ? undefined : clientNetwork(ip)),
  address: ({ ip }) => ip,
  user: ({ user }) => user,
  method: ({ method }) => method,
  path: ({ path }) => path,
};

/** @throws SimulationError `ERR_RL_INVALID_OPTION` - for what is no key. */
export function readKey(policy: string, key: PolicyKey | undefined): KeyOf {
  if (key === undefined) return KNOWN.shared!;
  if (typeof key === 'function') return key;
  const parts: unknown = typeof key === 'string' ? key.split('+') : key;
  if (Array.isArray(parts) && parts.length > 0 && parts.every(isName)) return together(parts.map(firstOf));
  throw new SimulationError(
    'ERR_RL_INVALID_OPTION',
    `${policy}: key must be a name such as 'ip', 'user' or a field of the log, several as 'ip+path' or 'user/ip', ` +
      `or a function, but got ${shown(key)}.`,
  );
}

function isName(part: unknown): part is string {
  return typeof part === 'string' && part.split('/').every((name) => name.trim() !== '');
}

/** `user/ip`: each kind in a space of its own, so that a user called like an address isn't that address. */
function firstOf(part: string): KeyOf {
  const names = part.split('/').map((name) => name.trim());
  const kinds = names.map((name) => (Object.hasOwn(KNOWN, name) ? KNOWN[name]! : fieldNamed(name)));
  if (kinds.length === 1) return kinds[0]!;
  return (entry) => {
    for (const [index, keyOf] of kinds.entries()) {
      const key = keyOf(entry);
      if (key !== undefined) return `${names[index]}:${key}`;
    }
    return undefined;
  };
}

function fieldNamed(name: string): KeyOf {
  return ({ fields }) => fields?.(name);
}

function together(parts: readonly KeyOf[]): KeyOf {
  if (parts.length === 1) return parts[0]!;
  return (entry) => {
    const keys = parts.map((keyOf) => keyOf(entry));
    return keys.includes(undefined) ? undefined : keys.join(' ');
  };
}
