import { ALGORITHMS, SCRIPTS } from './sources.generated.js';

/** The algorithms that the scripts know. */
export type AlgorithmName = keyof typeof ALGORITHMS;

interface AlgorithmParts {
  readonly numbers: string;
  readonly fields: string;
  readonly values: string;
  /** The fields that change where the state only goes on; the others are written when it begins anew. */
  readonly steady: string;
  readonly functions?: string;
  readonly [section: string]: string | undefined;
}

const CONCURRENCY: AlgorithmName = 'concurrency';
/** `e` and the record come first in what HMGET returns. */
const FIRST_FIELD = 3;
/** Where the deciding script answers with it, the group's requests came too late. No limiter of a group has that number. */
export const LATE = 1_000_000;

/**
 * The script that decides for limiters of these algorithms, one after the other. A server runs the whole text of a
 * script at each call: code for exactly what is asked costs it half of what general code does.
 */
export function composeDecision(algorithms: readonly AlgorithmName[]): string {
  const extraKeys = algorithms.filter((name) => name === CONCURRENCY).length * 3;
  return compose(SCRIPTS.decide, algorithms)
    .replaceAll('KEYS_OF_A_GROUP', String(1 + extraKeys))
    .replaceAll('LATE', String(LATE))
    .replaceAll('FIRST_ARGUMENT', extraKeys > 0 ? '5' : '4')
    .replaceAll('ARGUMENTS_OF_A_REQUEST', extraKeys > 0 ? '4' : '2');
}

/** The script that gives back what limiters of these rates have granted. */
export function composeGivingBack(algorithms: readonly AlgorithmName[]): string {
  return compose(SCRIPTS.giveBack, algorithms);
}

function compose(frame: string, algorithms: readonly AlgorithmName[]): string {
  const parts = algorithms.map((name) => ALGORITHMS[name] as AlgorithmParts);
  const functions = new Set(parts.map((part) => part.functions ?? ''));
  const fields = parts.flatMap((part, index) => fieldNames(part, index));
  const pairs = parts.flatMap((part, index) => pairsOf(part, index));
  const steady = parts.flatMap((part, index) => pairsOf(part, index, part.steady.split(' ')));
  let firstField = FIRST_FIELD;
  let extraKey = 1;
  const fill = parts.map((part, index) => {
    const filler = { index, firstField, extraKey };
    firstField += part.fields.split(' ').length;
    if (algorithms[index] === CONCURRENCY) extraKey += 3;
    return (text: string): string => fillIn(text, filler);
  });
  return frame
    .replace(/^-- @functions$/m, () => [...functions].join('\n'))
    .replaceAll(/^-- @each (\w+)$/gm, (_line, section: string) =>
      parts.map((part, index) => fill[index]!(sectionOf(part, section, index))).join('\n'),
    )
    .replaceAll('FIELDS', () => fields.join(', '))
    .replaceAll('ALL_PAIRS', () => pairs.join(', '))
    .replaceAll('STEADY_PAIRS', () => steady.join(', '));
}

function sectionOf(part: AlgorithmParts, section: string, index: number): string {
  switch (section) {
    case 'numbers':
      return `${readNumbers(part.numbers.split(' '))}\n${nameFields(part, index)}`;
    case 'give_back':
      return `full_at, missing, arg = tonumber(ARGV[arg]), tonumber(ARGV[arg + 1]), arg + 2\n${part[section]}`;
    default:
      return part[section] ?? '';
  }
}

/** The names that end in `order_N` are letters, all others numbers. */
function readNumbers(names: readonly string[]): string {
  const values = names.map((name, index) =>
    name === 'order_N' ? `ARGV[arg + ${index + 1}]` : `tonumber(ARGV[arg + ${index + 1}])`,
  );
  return `local name_N, ${names.join(', ')} = ARGV[arg], ${values.join(', ')}\narg = arg + ${names.length + 1}`;
}

interface Filler {
  readonly index: number;
  readonly firstField: number;
  readonly extraKey: number;
}

function fillIn(text: string, { index, firstField, extraKey }: Filler): string {
  return text
    .replaceAll(/\bFIELD_(\d)\b/g, (_word, field: string) => `values[${firstField + Number(field) - 1}]`)
    .replaceAll('EXTRA_KEY', String(extraKey))
    .replaceAll(/_N\b/g, `_${index + 1}`)
    .replaceAll(/\bN\b/g, String(index + 1));
}

/** The names of the fields are made once, whatever number of partitions a call is about. */
function nameFields(part: AlgorithmParts, index: number): string {
  const names = part.fields.split(' ').map((field) => `name_N .. '${field}'`);
  return `local ${fieldNames(part, index).join(', ')} = ${names.join(', ')}`;
}

function fieldNames(part: AlgorithmParts, index: number): string[] {
  return part.fields.split(' ').map((field) => `field_${index + 1}_${field}`);
}

function pairsOf(part: AlgorithmParts, index: number, only?: readonly string[]): string[] {
  const names = fieldNames(part, index);
  const values = part.values.split(' ').map((value) => value.replaceAll(/_N\b/g, `_${index + 1}`));
  return part.fields
    .split(' ')
    .map((field, position) =>
      only?.includes(field) === false ? '' : `${names[position]}, ${values[position]}`,
    )
    .filter((pair) => pair !== '');
}
