import * as fc from 'fast-check';
import { hashAt, hashOf, makePackedKey, MOST_WORDS, packKey, unpackKey, wordsAt } from './packed-key.js';

const latin = fc.string({ unit: fc.constantFrom('a', 'b', '\0', 'ÿ', ' '), maxLength: 70, size: 'max' });
const numbers = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double(),
  fc.constantFrom(0, -0, NaN, 2 ** 31, -(2 ** 31), 2 ** 32),
);
const keys = fc.oneof(latin, fc.string({ unit: 'binary', maxLength: 8 }), numbers, fc.integer().map(String));

function pack(key: unknown): { words: number; packed: Int32Array } {
  const packed = makePackedKey();
  return { words: packKey(key, packed), packed };
}

function areSame(one: unknown, other: unknown): boolean {
  const [first, second] = [pack(one), pack(other)];
  if (first.words !== second.words) return false;
  return first.packed.slice(0, first.words).every((word, at) => word === second.packed[at]);
}

describe('packed keys', () => {
  it('are the keys, once unpacked', () => {
    fc.assert(
      fc.property(keys, (key) => {
        const { words, packed } = pack(key);
        if (words === 0) return;
        expect(wordsAt(packed, 0)).toBe(words);
        expect(hashAt(packed, 0)).toBe(hashOf(packed));
        // A Map takes -0 for 0.
        expect(unpackKey(packed, 0)).toBe(Object.is(key, -0) ? 0 : key);
      }),
    );
  });

  it.each([
    2 ** 31,
    -(2 ** 31),
    2 ** 32,
    -(2 ** 32),
    2 ** 40 + 7,
    -1,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
  ])('hold the number %d whole', (key) => {
    const { packed } = pack(key);
    expect(unpackKey(packed, 0)).toBe(key);
  });

  it('are made of characters of one byte: of the first that has two there is none', () => {
    expect(['\u00ff', '\u0100', 'abcd\u00ff', 'abcd\u0100'].map((key) => pack(key).words)).toEqual([
      1, 0, 2, 0,
    ]);
  });

  it.each<[string, (number: number) => unknown]>([
    ['numbers', (number) => number],
    ['texts', (number) => `key ${number}`],
    [
      'texts that differ in the halves of a word',
      (number) =>
        `${String.fromCharCode(97 + (number % 16))}a${String.fromCharCode(97 + (number >> 8), 97 + ((number >> 4) % 16))}`,
    ],
  ])('have hashes that hardly ever are the same, nor is a part of them often: %s', (_what, keyOf) => {
    const count = 4_096;
    const hashes = Array.from({ length: count }, (_, number) => hashOf(pack(keyOf(number)).packed));
    const most = (places: number[]): number => {
      const seen = new Map<number, number>();
      for (const place of places) seen.set(place, (seen.get(place) ?? 0) + 1);
      return Math.max(...seen.values());
    };
    expect(new Set(hashes).size).toBeGreaterThan(count - 20);
    // Sixteen are to be expected: who found 80 has lost a wager at odds of a million million to one.
    expect(most(hashes.map((hash) => hash & 255))).toBeLessThan(80);
    expect(most(hashes.map((hash) => hash >>> 24))).toBeLessThan(80);
  });

  it('are the same exactly where a Map takes the keys for the same', () => {
    fc.assert(
      fc.property(fc.tuple(keys, keys), ([one, other]) => {
        if (pack(one).words === 0 || pack(other).words === 0) return;
        expect(areSame(one, other)).toBe(new Map([[one, true]]).has(other));
      }),
    );
    expect(areSame('1', 1)).toBe(false);
    expect(areSame('a', 'a\0')).toBe(false);
    expect(areSame('ab', 'ba')).toBe(false);
    expect(areSame(0, -0)).toBe(true);
  });

  it('have the same hash wherever they stand', () => {
    const { words, packed } = pack('somebody@example.com');
    const elsewhere = new Int32Array(40);
    elsewhere.set(packed.subarray(0, words), 11);
    expect(hashAt(elsewhere, 11)).toBe(hashOf(packed));
  });

  it.each([
    ['of 63 characters', 'x'.repeat(63), MOST_WORDS],
    ['of 64 characters', 'x'.repeat(64), 0],
    ['of none', '', 1],
    ['with a character beyond Latin-1', 'naïve → ok', 0],
    ['with the last character of Latin-1', 'ÿ', 1],
    ['that is a fraction', 0.5, 0],
    ['that is no number', NaN, 0],
    ['beyond the safe integers', 2 ** 53, 0],
    ['that is an object', {}, 0],
    ['that is a symbol', Symbol('key'), 0],
    ['that is undefined', undefined, 0],
  ])('take words or are left to a Map: a key %s', (_kind, key, words) => {
    expect(pack(key).words).toBe(words);
  });

  it('spread alike keys evenly over the parts of an index', () => {
    const counts = Array.from({ length: 256 }, () => 0);
    for (let number = 0; number < 65_536; number++) counts[hashOf(pack(`user-${number}`).packed) >>> 24]!++;
    // 256 expected each, with a standard deviation of 16.
    expect(Math.max(...counts)).toBeLessThan(384);
    expect(Math.min(...counts)).toBeGreaterThan(128);
  });
});
