/** So many are named; the others are counted. */
const SHOWN = 5;

/** The names of endpoints, in a message. */
export function namesOf(endpoints: readonly string[]): string {
  const more = endpoints.length > SHOWN ? ` and ${endpoints.length - SHOWN} more` : '';
  return `${endpoints.slice(0, SHOWN).join(', ')}${more}`;
}
