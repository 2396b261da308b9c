/** Edits beyond which a known name is no plausible reading of a typed one. */
const MOST_EDITS = 3;

/**
 * The way out for an unknown name: `Did you mean "burst"?` where one is near, else the list of what there is.
 *
 * @param kind - what the names are called in the plural, for the message.
 */
export function suggestion(typed: string, known: readonly string[], kind: string): string {
  let nearest: string | undefined;
  let fewest = Math.min(MOST_EDITS, typed.length - 1) + 1;
  for (const name of known) {
    const edits = editDistance(typed.toLowerCase(), name.toLowerCase());
    if (edits < fewest) [nearest, fewest] = [name, edits];
  }
  if (nearest !== undefined) return `Did you mean ${JSON.stringify(nearest)}?`;
  if (known.length === 0) return `There are no ${kind}.`;
  return `Known ${kind}: ${known.map((name) => JSON.stringify(name)).join(', ')}.`;
}

function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const substitution = previous[column - 1]! + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, previous[column]! + 1, current[column - 1]! + 1));
    }
    previous = current;
  }
  return previous[right.length]!;
}
