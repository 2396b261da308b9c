import * as fc from 'fast-check';
import { HISTORY_SECONDS, PolicyRecord } from './policy-record.js';

describe('PolicyRecord', () => {
  it('remembers what each second was like, the peaks of what stood and the waits', () => {
    const record = new PolicyRecord(1_000);
    record.granted(1_000);
    record.gauge(1_000, 5, 2);
    record.gauge(1_000, 1, 2);
    record.waited(1_000, 250);
    record.refused(1_001);
    const [first, second] = record.read(1_000, 1_001);
    expect(first).toMatchObject({ granted: 1, refused: 0, waiting: 5, inUse: 2 });
    expect(first!.waits.max).toBe(250);
    expect(second).toMatchObject({ granted: 0, refused: 1, waiting: 1, inUse: 2 });
    expect(second!.waits.max).toBe(0);
  });

  it('carries on what stood through quiet seconds, also through more than it remembers', () => {
    const record = new PolicyRecord(0);
    record.gauge(0, 3, 4);
    record.granted(0);
    const later = HISTORY_SECONDS * 2;
    const rows = record.read(later - HISTORY_SECONDS + 2, later);
    expect(rows).toHaveLength(HISTORY_SECONDS - 1);
    for (const row of rows) expect(row).toMatchObject({ granted: 0, waiting: 3, inUse: 4 });
  });

  it('counts every grant in its second, whatever the gaps', () => {
    const anySteps = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 100 });
    fc.assert(
      fc.property(anySteps, (steps) => {
        const record = new PolicyRecord(0);
        const grants: number[] = [];
        let second = 0;
        for (const step of steps) {
          second += step;
          record.granted(second);
          grants.push(second);
        }
        const from = Math.max(0, second - HISTORY_SECONDS + 2);
        const counted = record.read(from, second).map(({ granted }) => granted);
        const expected = counted.map((_, index) => grants.filter((at) => at === from + index).length);
        expect(counted).toEqual(expected);
      }),
    );
  });

  it('gives a clock that steps back no second of its own', () => {
    const record = new PolicyRecord(10);
    record.granted(12);
    record.granted(11);
    expect(record.read(11, 12).map(({ granted }) => granted)).toEqual([0, 2]);
  });
});
