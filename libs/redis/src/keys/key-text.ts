import { createHash } from 'node:crypto';
import { shown, typeError } from '../errors.js';

/** So long a part of a key may be, in bytes; longer ones are replaced by their hash. */
const LONGEST_BYTES = 256;
/** What would end a hash tag or a part, or is a mark here; blanks, control characters and halves of a pair. */
const ESCAPED = /[%{}:#~*\s\p{Cc}\p{Cs}]/gu;

/**
 * A text as a part of a key. Different texts make different parts, whatever they contain: what is special is
 * written as `%` and its code, nothing at all as `%`, and a text of more than 256 bytes as `~` and its SHA-256.
 */
export function textPart(text: string): string {
  if (text === '') return '%';
  const escaped = text.replace(ESCAPED, (character) => `%${character.charCodeAt(0).toString(16)}.`);
  if (Buffer.byteLength(escaped) <= LONGEST_BYTES) return escaped;
  return `~${createHash('sha256').update(escaped).digest('hex')}`;
}

/**
 * The partition key of a limiter as a part of a Redis key. Values of different types are different keys, as they
 * are in a `Map`: the number 1 is not the text `1`.
 *
 * @throws TypeError `ERR_RL_INVALID_ARGUMENT` - for a value that other processes can't know: an object, a symbol,
 * `undefined`.
 */
export function partitionPart(key: unknown): string {
  switch (typeof key) {
    case 'string':
      return textPart(key);
    case 'number':
    case 'bigint':
    case 'boolean':
      // `-0` is 0, as in a Map.
      return `#${typeof key}-${key}`;
    default:
      throw typeError(
        'ERR_RL_INVALID_ARGUMENT',
        `The key of a shared limiter must be a string, a number, a bigint or a boolean, but got ${shown(key)}: ` +
          'other processes can’t know anything else. Choose a text that stands for it.',
      );
  }
}
