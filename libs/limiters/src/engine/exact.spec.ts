import * as fc from 'fast-check';
import { divideFloor, greatestCommonDivisor, multiplyDivideCeil, multiplyDivideFloor } from './exact.js';

const anyInteger = fc.maxSafeNat();
const anyPositive = fc.maxSafeNat().map((value) => Math.max(1, value));

describe('exact arithmetic', () => {
  it('divides as integers of any size do', () => {
    fc.assert(
      fc.property(anyInteger, anyPositive, (dividend, divisor) => {
        expect(divideFloor(dividend, divisor)).toBe(Number(BigInt(dividend) / BigInt(divisor)));
      }),
    );
  });

  it.each([
    [Number.MAX_SAFE_INTEGER, 1, Number.MAX_SAFE_INTEGER],
    [Number.MAX_SAFE_INTEGER, 2, 4_503_599_627_370_495],
    [Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER, 0],
    [0, 7, 0],
    // One less than a multiple, as close below the next quotient as it gets.
    [9_007_199_254_740_989, 3, 3_002_399_751_580_329],
    [9_007_199_254_740_989, 2, 4_503_599_627_370_494],
    [9_007_199_254_740_989, 94_906_265, 94_906_266],
  ])('divides %d by %d', (dividend, divisor, quotient) => {
    expect(divideFloor(dividend, divisor)).toBe(quotient);
  });

  it('multiplies and divides without losing what passes 2^53 on the way', () => {
    fc.assert(
      fc.property(anyInteger, anyInteger, anyPositive, (a, b, c) => {
        const product = BigInt(a) * BigInt(b);
        const divisor = BigInt(c);
        expect(multiplyDivideFloor(a, b, c)).toBe(Number(product / divisor));
        expect(multiplyDivideCeil(a, b, c)).toBe(Number((product + divisor - 1n) / divisor));
      }),
    );
  });

  it('rounds a product that fits in a number exactly too', () => {
    const small = fc.integer({ min: 0, max: 90_000_000 });
    fc.assert(
      fc.property(small, small, fc.integer({ min: 1, max: 1_000 }), (a, b, c) => {
        const exact = (BigInt(a) * BigInt(b)) / BigInt(c);
        expect(multiplyDivideFloor(a, b, c)).toBe(Number(exact));
        const isWhole = (BigInt(a) * BigInt(b)) % BigInt(c) === 0n;
        expect(multiplyDivideCeil(a, b, c)).toBe(Number(exact) + (isWhole ? 0 : 1));
      }),
    );
  });

  it('finds the greatest common divisor', () => {
    expect(greatestCommonDivisor(12, 18)).toBe(6);
    expect(greatestCommonDivisor(7, 13)).toBe(1);
    expect(greatestCommonDivisor(5, 5)).toBe(5);
    expect(greatestCommonDivisor(Number.MAX_SAFE_INTEGER, 1)).toBe(1);
    expect(greatestCommonDivisor(1, 10 ** 15)).toBe(1);
  });
});
