import { createHmac, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';

/**
 * How keys are shown. `'hashed'`: as twelve characters that can be compared as long as this process lives, and lead
 * back to no key. `'plain'`: as they are, cut after 64 characters. `'none'`: not at all.
 */
export type KeyDisplay = 'hashed' | 'plain' | 'none';

/** What `KeyDisplay` allows. */
export const KEY_DISPLAYS: readonly KeyDisplay[] = ['hashed', 'plain', 'none'];

/** Whatever a client makes its key of, no more of it is kept. */
const KEPT_CHARACTERS = 256;
const SHOWN_CHARACTERS = 64;
const HASH_CHARACTERS = 12;

/** The text of a key, for counting. Two keys with the same first 256 characters are counted as one. */
export function keyText(key: unknown): string {
  const text = typeof key === 'object' && key !== null ? inspect(key, { depth: 1 }) : String(key);
  return cut(text, KEPT_CHARACTERS);
}

/** Makes what is shown of the texts of keys. */
export function displayOf(display: KeyDisplay): (text: string) => string {
  if (display === 'none') return () => '';
  if (display === 'plain') return (text) => cut(text, SHOWN_CHARACTERS);
  const secret = randomBytes(32);
  return (text) => createHmac('sha256', secret).update(text).digest('hex').slice(0, HASH_CHARACTERS);
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
