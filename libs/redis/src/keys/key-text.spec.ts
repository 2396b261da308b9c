import * as fc from 'fast-check';
import { partitionPart, textPart } from './key-text.js';

describe('keys', () => {
  test('of different texts are different, and none ends its hash tag', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({
        unit: fc.constantFrom('%', '{', '}', ':', '#', '~', '*', ' ', '.', '7', 'b', '\ud800', '\udc00'),
      }),
    );
    const property = fc.property(anyText, anyText, (one, other) => {
      expect(textPart(one) === textPart(other)).toBe(one === other);
      expect(textPart(one)).not.toMatch(/[{}:#*\s]|^$/);
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  test('survive being written as UTF-8', () => {
    const texts = ['\ud800', '\udc00', '\ufffd', '\ud83d\ude00'].map(textPart);
    expect(new Set(texts.map((text) => Buffer.from(text).toString())).size).toBe(texts.length);
  });

  test('of more than 256 bytes are as long as a hash', () => {
    const long = 'é'.repeat(129);
    expect(textPart(long)).toMatch(/^~[0-9a-f]{64}$/);
    expect(textPart('é'.repeat(128))).toHaveLength(128);
    expect(textPart(long)).not.toBe(textPart(`${long}x`));
    expect(textPart(textPart(long))).not.toBe(textPart(long));
  });

  test('of different types are different', () => {
    const keys = [1, '1', 1n, true, 'true', '#number-1', '', '%', 0, NaN, 'NaN'];
    expect(new Set(keys.map(partitionPart)).size).toBe(keys.length);
    expect(partitionPart(-0)).toBe(partitionPart(0));
  });

  test.each([[undefined], [null], [{}], [Symbol('key')]])('can’t be %p', (key) => {
    expect(() => partitionPart(key)).toThrow(expect.objectContaining({ code: 'ERR_RL_INVALID_ARGUMENT' }));
  });
});
