import { createHash } from 'node:crypto';

/** So many characters a key has that is kept as it is. */
const LONGEST = 256;

/**
 * The key as a policy keeps it: one that is longer than 256 characters as its SHA-256. Keys stay as long as something is
 * spent, and a header of 16 kB may be one: so what a million of them take is bounded, whatever clients send.
 */
export function keptKey(key: string): string {
  // Two bytes a character: in UTF-8 all halves of pairs would be the same.
  return key.length <= LONGEST ? key : `long=${createHash('sha256').update(key, 'utf16le').digest('hex')}`;
}
