const SHOWN_CHARACTERS = 60;

/** A received value as messages show it: told apart from look-alikes of other types, and never long. */
export function shown(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > SHOWN_CHARACTERS ? `${value.slice(0, SHOWN_CHARACTERS)}…` : value);
  }
  if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return `${String(value)} (${typeof value})`;
}
