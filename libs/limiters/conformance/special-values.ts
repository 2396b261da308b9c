import type { Encoded } from './scenario.js';

/** What JSON can't say. */
const PLAIN = new Map<string, unknown>([
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
  ['-0', -0],
  ['undefined', undefined],
]);

/** Decodes `{ "$": … }`; within one scenario the same symbol or object comes out each time. */
export class SpecialValues {
  readonly #identities = new Map<string, unknown>();

  decode(value: Encoded): unknown {
    if (Array.isArray(value)) return value.map((item) => this.decode(item));
    if (!isSpecial(value)) return value;
    if (PLAIN.has(value.$)) return PLAIN.get(value.$);
    return this.#identityOf(value.$);
  }

  #identityOf(text: string): unknown {
    if (!this.#identities.has(text)) this.#identities.set(text, make(text));
    return this.#identities.get(text);
  }
}

function isSpecial(value: unknown): value is { $: string } {
  return typeof value === 'object' && value !== null && '$' in value && typeof value.$ === 'string';
}

function make(text: string): unknown {
  const [kind, name = ''] = text.split(':');
  if (kind === 'symbol') return Symbol(name);
  if (kind === 'object') return { name };
  if (kind === 'bigint') return BigInt(name);
  throw new Error(`Unknown special value ${text}.`);
}
