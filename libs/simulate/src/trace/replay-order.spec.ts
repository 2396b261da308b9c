import * as fc from 'fast-check';
import { ReplayOrder } from './replay-order.js';
import type { TraceEntry } from './trace-entry.js';

function ordered(
  entries: readonly TraceEntry[],
  settings: { reorderWindowMs?: number; spreadSeconds?: boolean } = {},
): { times: number[]; lines: (number | undefined)[]; order: ReplayOrder } {
  const order = new ReplayOrder({ reorderWindowMs: 1_000, spreadSeconds: false, ...settings });
  const out = [...entries.flatMap((entry) => order.push(entry)), ...order.rest()];
  return { times: out.map(({ timeMs }) => timeMs), lines: out.map(({ line }) => line), order };
}

const at = (timeMs: number, line?: number): TraceEntry => ({ timeMs, line });

describe('the order of a replay', () => {
  it('sorts whatever is late by no more than the window, and keeps the log’s order at one time', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(400), { maxLength: 200 }), (jitters) => {
        const entries = jitters.map((jitter, index) => at(index * 10 - jitter, index));
        const { times, lines, order } = ordered(entries, { reorderWindowMs: 400 });
        const sorted = [...entries].sort((left, right) => left.timeMs - right.timeMs);
        expect(times).toEqual(sorted.map(({ timeMs }) => timeMs));
        expect(lines).toEqual(sorted.map(({ line }) => line));
        expect(order.late.count).toBe(0);
      }),
    );
  });

  it('loses nothing: what is out and what is late is what went in', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100_000), { maxLength: 200 }), (times) => {
        const { times: out, order } = ordered(times.map((timeMs) => at(timeMs)));
        expect(out.length + order.late.count).toBe(times.length);
        expect(order.count).toBe(times.length);
        expect(out).toEqual([...out].sort((left, right) => left - right));
      }),
    );
  });

  it('says where the late ones stand', () => {
    const { times, order } = ordered([at(0, 1), at(5_000, 2), at(10_000, 3), at(100, 4), at(9_500, 5)]);
    expect(times).toEqual([0, 5_000, 9_500, 10_000]);
    expect(order.late).toEqual({ count: 1, places: ['line 4'] });
  });

  it('names the file where there are several, and the number where there are no lines', () => {
    const { order } = ordered([at(9_000), at(90_000), { timeMs: 1, line: 7, file: 'b.log' }, at(2)]);
    expect(order.late.places).toEqual(['b.log:7', 'entry 4']);
  });

  it('gives an entry as soon as the window has passed it', () => {
    const order = new ReplayOrder({ reorderWindowMs: 100, spreadSeconds: false });
    expect(order.push(at(0))).toEqual([]);
    expect(order.push(at(99))).toEqual([]);
    expect(order.push(at(100)).map(({ timeMs }) => timeMs)).toEqual([0]);
  });

  it('holds no more than a number of entries, whatever the window', () => {
    const order = new ReplayOrder({ reorderWindowMs: 1e12, spreadSeconds: false });
    let out = 0;
    for (let time = 0; time < 200_010; time++) out += order.push(at(time)).length;
    expect(out).toBe(10);
  });

  it('spreads whole seconds evenly', () => {
    const entries = [at(0), at(0), at(0), at(0), at(1_000), at(2_000), at(2_000)];
    expect(ordered(entries, { spreadSeconds: true }).times).toEqual([0, 250, 500, 750, 1_000, 2_000, 2_500]);
  });

  it('leaves seconds alone that know more than the second', () => {
    const entries = [at(0), at(0), at(400), at(1_000), at(1_000)];
    expect(ordered(entries, { spreadSeconds: true }).times).toEqual([0, 0, 400, 1_000, 1_500]);
  });

  it('keeps order and number when it spreads', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 100 }), (seconds) => {
        const sorted = [...seconds].sort((left, right) => left - right);
        const { times } = ordered(
          sorted.map((second) => at(second * 1_000)),
          { spreadSeconds: true },
        );
        expect(times.map((time) => Math.floor(time / 1_000))).toEqual(sorted);
        expect(times).toEqual([...times].sort((left, right) => left - right));
      }),
    );
  });
});
