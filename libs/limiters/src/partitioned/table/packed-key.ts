/**
 * Keys as words of 32 bits, so that a table can keep them in a typed array: a million strings that stay are a million
 * objects that the garbage collector copies while they are young, and walks over as long as they live.
 *
 * The first byte tells what it is: one more than the length of a string, or a mark for numbers. What follows are
 * the characters, a byte each, or the halves of the number. Two keys are the same to a `Map` exactly if their
 * words are the same here.
 */

/** The most words that a key takes. */
export const MOST_WORDS = 16;
/** The most characters of a string: longer ones aren't packed, as they would cost more here than in a `Map`. */
const MOST_CHARACTERS = MOST_WORDS * 4 - 1;
const INTEGER = 0xff;
const TWO_TO_32 = 0x1_0000_0000;
/** Where keys are packed: the words, then the hash. */
export type PackedKey = Int32Array;

/** Room for a packed key. */
export function makePackedKey(): PackedKey {
  return new Int32Array(MOST_WORDS + 1);
}

/** The hash of a key that was packed. */
export function hashOf(packed: PackedKey): number {
  return packed[MOST_WORDS]!;
}

/**
 * A random factor for each half of a word: the sum of the products is a universal hash, in which nobody can find keys
 * that collide without knowing the factors (Dietzfelbinger et al., A reliable randomized algorithm for the closest-pair
 * problem, 1997).
 */
const FACTORS = crypto.getRandomValues(new Int32Array(MOST_WORDS * 2));

/**
 * Packs a key.
 * @returns how many words it takes; 0 for keys of other kinds, which only a `Map` can compare.
 */
export function packKey(key: unknown, packed: PackedKey): number {
  if (typeof key === 'string') return packString(key, packed);
  return typeof key === 'number' ? packNumber(key, packed) : 0;
}

function packString(key: string, packed: PackedKey): number {
  const { length } = key;
  if (length > MOST_CHARACTERS) return 0;
  let index = 0;
  let word = length + 1;
  let all = 0;
  for (; index < 3 && index < length; index++) {
    const code = key.charCodeAt(index);
    all |= code;
    word |= code << (8 * index + 8);
  }
  packed[0] = word;
  let hash = hashOfWord(word, 0);
  let words = 1;
  // Four at a time: half of the time of a partitioned decision goes into its key.
  for (; index + 3 < length; index += 4) {
    const first = key.charCodeAt(index);
    const second = key.charCodeAt(index + 1);
    const third = key.charCodeAt(index + 2);
    const fourth = key.charCodeAt(index + 3);
    all |= first | second | third | fourth;
    word = first | (second << 8) | (third << 16) | (fourth << 24);
    packed[words] = word;
    hash = (hash + hashOfWord(word, words)) | 0;
    words++;
  }
  if (index < length) {
    word = 0;
    for (let shift = 0; index < length; index++, shift += 8) {
      const code = key.charCodeAt(index);
      all |= code;
      word |= code << shift;
    }
    packed[words] = word;
    hash = (hash + hashOfWord(word, words)) | 0;
    words++;
  }
  packed[MOST_WORDS] = spread(hash);
  return all < 256 ? words : 0;
}

function packNumber(key: number, packed: PackedKey): number {
  if (!Number.isSafeInteger(key)) return 0;
  packed[0] = INTEGER;
  packed[1] = key;
  packed[2] = Math.floor(key / TWO_TO_32);
  packed[MOST_WORDS] = hashAt(packed, 0);
  return 3;
}

/** How many words the packed key takes that stands at a place. */
export function wordsAt(words: Int32Array, at: number): number {
  const first = words[at]! & 0xff;
  return first === INTEGER ? 3 : (first + 3) >> 2;
}

/** The hash of the packed key that stands at a place: the same that packing it gave. */
export function hashAt(words: Int32Array, at: number): number {
  const count = wordsAt(words, at);
  let hash = 0;
  for (let word = 0; word < count; word++) hash = (hash + hashOfWord(words[at + word]!, word)) | 0;
  return spread(hash);
}

function hashOfWord(word: number, number: number): number {
  return (
    (Math.imul(FACTORS[2 * number]!, word & 0xffff) + Math.imul(FACTORS[2 * number + 1]!, word >>> 16)) | 0
  );
}

/** The key that stands at a place. */
export function unpackKey(words: Int32Array, at: number): unknown {
  const first = words[at]! & 0xff;
  if (first === INTEGER) return words[at + 2]! * TWO_TO_32 + (words[at + 1]! >>> 0);
  return String.fromCharCode(
    ...Array.from({ length: first - 1 }, (_, index) => byteAt(words, at, index + 1)),
  );
}

function byteAt(words: Int32Array, at: number, byte: number): number {
  return (words[at + (byte >> 2)]! >>> ((byte & 3) * 8)) & 0xff;
}

/** Makes every bit of a sum depend on all others; different sums stay different (MurmurHash3's finalizer). */
function spread(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}
