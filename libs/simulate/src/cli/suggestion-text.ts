import type { LimitTrial } from '../suggestion/limit-suggestion.js';
import type { SuggestFlag } from './flags.js';
import { countText, shareText } from './numbers.js';
import type { NamedSuggestion } from './suggest.js';
import { tableLines } from './table.js';

const TITLES = ['policy', 'limit', 'refused', 'share', 'keys refused', 'share'];

/** Each limit with what it does, and what one less would do. */
export function suggestionText(suggestions: readonly NamedSuggestion[], { atMost, of }: SuggestFlag): string {
  const rows = suggestions.flatMap(({ name, at, below }) => [
    ...(at === null ? [] : [rowOf(name, at)]),
    ...(below === null ? [] : [rowOf('  one less', below)]),
  ]);
  const head = `Limits that refuse at most ${shareText(atMost)} of the ${of}`;
  return rows.length === 0 ? '' : `${[head, ...tableLines(TITLES, rows)].join('\n')}\n\n`;
}

/** A line for each policy without such a limit. */
export function withoutLimitText(
  suggestions: readonly NamedSuggestion[],
  { atMost, of }: SuggestFlag,
): string {
  return suggestions
    .filter(({ limit }) => limit === null)
    .map(
      ({ name, trials }) =>
        `${name}: no limit up to ${countText(trials.at(-1)!.limit)} refuses at most ${shareText(atMost)} of the ${of}: ` +
        'its other numbers refuse more.\n',
    )
    .join('');
}

function rowOf(name: string, trial: LimitTrial): string[] {
  const { limit, refused, refusedShare, refusedKeys, refusedKeysShare } = trial;
  const requests = [countText(refused), shareText(refusedShare)];
  return [name, countText(limit), ...requests, countText(refusedKeys), shareText(refusedKeysShare)];
}
