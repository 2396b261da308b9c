import * as fc from 'fast-check';
import { NO_WAITS, WaitHistogram } from './wait-histogram.js';

function exactQuantile(waits: readonly number[], share: number): number {
  const sorted = waits.toSorted((one, other) => one - other);
  return sorted[Math.ceil(share * sorted.length) - 1]!;
}

describe('WaitHistogram', () => {
  it('is at most 8 % and 0.1 ms above the true quantile, never below, and exact in the maximum', () => {
    const anyWaits = fc.array(fc.double({ min: 0, max: 3_000_000, noNaN: true }), {
      minLength: 1,
      maxLength: 200,
    });
    fc.assert(
      fc.property(anyWaits, (waits) => {
        const histogram = new WaitHistogram();
        for (const wait of waits) histogram.add(wait);
        const { p50, p95, max } = histogram.take();
        for (const [got, share] of [
          [p50, 0.5],
          [p95, 0.95],
        ] as const) {
          const exact = exactQuantile(waits, share);
          expect(got).toBeGreaterThanOrEqual(exact * (1 - 1e-9));
          expect(got).toBeLessThanOrEqual(exact * 1.080001 + 0.1);
        }
        expect(max).toBe(Math.max(...waits));
      }),
    );
  });

  it('keeps the maximum of waits beyond its last bucket', () => {
    const histogram = new WaitHistogram();
    histogram.add(1e9);
    expect(histogram.take()).toEqual({ p50: 1e9, p95: 1e9, max: 1e9 });
  });

  it('begins anew when taken', () => {
    const histogram = new WaitHistogram();
    histogram.add(100);
    histogram.take();
    expect(histogram.take()).toEqual(NO_WAITS);
  });
});
