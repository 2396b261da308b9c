const SHOWN_CHARACTERS = 60;

/** A value as a message shows it, never long. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shortened(value));
  if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null)
    return `an object (${value.constructor?.name ?? 'no prototype'})`;
  return String(value);
}

/** A text cut to what fits into a line of a report. */
export function shortened(text: string, characters: number = SHOWN_CHARACTERS): string {
  return text.length > characters ? `${text.slice(0, characters)}…` : text;
}
