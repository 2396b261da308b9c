import { Rows } from '../../../conformance/partitioned/expiring-rows.js';
import { NO_ROW } from './rows.js';

describe('the wheel of rows that are looked at when they are due', () => {
  it('looks at each after it is due, within 100 ms, at those of one span together', () => {
    const rows = new Rows();
    for (const dueMs of [0, 40, 99, 100, 250, 1_000]) rows.add(dueMs, dueMs);
    rows.clock.advance(2_000);
    expect(rows.looks.map(({ row }) => row)).toEqual([99, 40, 0, 100, 250, 1_000]);
    for (const { row, atMs } of rows.looks) {
      expect(atMs).toBeGreaterThan(row);
      expect(atMs).toBeLessThanOrEqual(row + 100);
    }
    expect(new Set(rows.looks.map(({ atMs }) => atMs)).size).toBe(4);
  });

  it('has one timer in the background while there are rows, for the first that is due', () => {
    const rows = new Rows();
    expect(rows.clock.pendingTimers).toBe(0);
    rows.add(1, 950);
    rows.add(2, 2_000);
    rows.add(3, 970);
    rows.add(4, 120);
    expect(rows.delays).toEqual([1_000, 200]);
    expect(rows.clock.pendingTimers).toBe(1);
    rows.clock.advance(200);
    expect(rows.delays.at(-1)).toBe(800);
    rows.clock.advance(2_000);
    expect(rows.looks).toHaveLength(4);
    expect([rows.clock.pendingTimers, rows.areInBackground]).toEqual([0, true]);
  });

  it('looks again when it is told to', () => {
    const rows = new Rows();
    rows.add(1, 10);
    rows.again.set(1, 310);
    rows.clock.advance(300);
    expect(rows.looks).toEqual([{ row: 1, atMs: 100 }]);
    rows.clock.advance(100);
    expect(rows.looks).toEqual([
      { row: 1, atMs: 100 },
      { row: 1, atMs: 400 },
    ]);
    expect(rows.clock.pendingTimers).toBe(0);
  });

  it('looks at many that are due at once in turns of the event loop', () => {
    const rows = new Rows();
    for (let row = 0; row < 4_500; row++) rows.add(row, row % 150);
    rows.clock.skip(1_000);
    const counts: number[] = [];
    const { setTimer } = rows.clock;
    rows.clock.setTimer = (callback, delayMs) => {
      counts.push(rows.looks.length);
      return setTimer.call(rows.clock, callback, delayMs);
    };
    rows.delays = [];
    rows.clock.advance(0);
    expect(counts).toEqual([2_000, 4_000]);
    expect(rows.delays).toEqual([0, 0]);
    expect(new Set(rows.looks.map(({ row }) => row)).size).toBe(4_500);
    expect(rows.clock.pendingTimers).toBe(0);
  });

  it('loses none of them where one comes back into their span, as by a clock that steps back', () => {
    const rows = new Rows();
    for (let row = 0; row < 2_500; row++) rows.add(row, 50);
    rows.again.set(2_400, 20);
    rows.clock.advance(1_000);
    expect(rows.looks).toHaveLength(2_501);
    expect(rows.looks.filter(({ row }) => row === 2_400)).toHaveLength(2);
    expect(rows.clock.pendingTimers).toBe(0);
  });

  it('looks at nothing any more once it is stopped', () => {
    const rows = new Rows();
    rows.add(1, 10);
    rows.wheel.stop();
    expect(rows.clock.pendingTimers).toBe(0);
    rows.clock.advance(1_000);
    expect(rows.looks).toEqual([]);
    rows.add(2, 1_500);
    expect(rows.clock.pendingTimers).toBe(0);
    rows.clock.advance(1_000);
    expect(rows.looks).toEqual([]);
  });
});

describe('the wheel of a clock that fails', () => {
  it('keeps the timer that it had where it can set none for a row that is due earlier', () => {
    const rows = new Rows();
    rows.add(1, 950);
    rows.clock.setsNoTimers = true;
    expect(() => rows.add(2, 150)).toThrow('The clock fails.');
    rows.clock.setsNoTimers = false;
    rows.add(3, 450);
    expect(rows.clock.pendingTimers).toBe(1);
    rows.clock.advance(500);
    expect(rows.looks.map(({ row }) => row)).toEqual([2, 3]);
    rows.clock.setsNoTimers = true;
    expect(() => rows.add(4, 550)).toThrow('The clock fails.');
    rows.clock.advance(500);
    expect(rows.looks.map(({ row }) => row).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
    expect(rows.clock.pendingTimers).toBe(0);
  });

  it('looks at those that are due soon, whatever else comes meanwhile', () => {
    const rows = new Rows();
    rows.add(1, 50);
    rows.clock.skip(100);
    rows.clock.failsAfter = 0;
    expect(() => rows.clock.advance(0)).toThrow('The clock fails.');
    rows.clock.failsAfter = Infinity;
    rows.add(2, 9_000);
    rows.clock.advance(100);
    expect(rows.looks).toEqual([{ row: 1, atMs: 200 }]);
  });

  it('sets no timer where there is nothing to look at', () => {
    const rows = new Rows();
    rows.add(1, 50);
    rows.clock.skip(100);
    expect(rows.take([1]).row).toBe(1);
    rows.clock.failsAfter = 0;
    expect(() => rows.clock.advance(0)).toThrow('The clock fails.');
    expect(rows.clock.pendingTimers).toBe(0);
  });
});

describe('the search for a row that can go at once', () => {
  it('finds one that is due, and takes it out wherever it stands', () => {
    for (const wanted of [1, 2, 3]) {
      const rows = new Rows();
      for (const row of [1, 2, 3]) rows.add(row, row);
      rows.clock.skip(150);
      expect(rows.take([wanted]).row).toBe(wanted);
      rows.clock.advance(0);
      // Those that it has passed over stand behind the others.
      expect(rows.looks.map(({ row }) => row)).toEqual({ 1: [3, 2], 2: [1, 3], 3: [2, 1] }[wanted]);
    }
  });

  it('finds one in a span that has only begun, and leaves an empty one behind', () => {
    const rows = new Rows();
    rows.add(1, 120);
    rows.clock.advance(121);
    expect(rows.take([1])).toEqual({ row: 1, asked: [1] });
    rows.clock.advance(1_000);
    expect(rows.looks).toEqual([]);
    expect(rows.clock.pendingTimers).toBe(0);
  });

  it('asks about none that is due later, however many there are', () => {
    const rows = new Rows();
    rows.add(1, 500);
    rows.add(2, 90);
    expect(rows.take([1]).asked).toEqual([2]);
    rows.clock.skip(499);
    expect(rows.take([1]).row).toBe(NO_ROW);
    rows.clock.skip(1);
    expect(rows.take([1]).row).toBe(1);
  });

  it('in vain is not repeated before something more is due', () => {
    const rows = new Rows();
    rows.add(1, 30);
    rows.add(2, 40);
    rows.add(3, 700);
    rows.clock.skip(10);
    expect(rows.take([])).toEqual({ row: NO_ROW, asked: [2, 1] });
    rows.clock.skip(19);
    expect(rows.take([]).asked).toEqual([]);
    rows.clock.skip(1);
    expect(rows.take([]).asked).toEqual([2, 1]);
    // Both are due and could go any moment: a millisecond is as long as it waits then.
    rows.clock.skip(20);
    expect(rows.take([]).asked).toEqual([2, 1]);
    expect(rows.take([1]).asked).toEqual([]);
    rows.clock.skip(1);
    expect(rows.take([1])).toEqual({ row: 1, asked: [2, 1] });
  });

  it('is repeated for a row that came since and is due earlier', () => {
    const rows = new Rows();
    rows.add(1, 3_000);
    rows.clock.skip(10);
    expect(rows.take([1, 2]).row).toBe(NO_ROW);
    rows.add(2, 20);
    rows.clock.skip(10);
    expect(rows.take([1, 2])).toEqual({ row: 2, asked: [2] });
    rows.add(4, 9_000);
    rows.clock.skip(2_879);
    expect(rows.take([1, 4]).asked).toEqual([]);
    rows.clock.skip(101);
    expect(rows.take([1, 4]).row).toBe(1);
  });

  it('looks at few of many that are due and can not go, and at those behind them a moment later', () => {
    const rows = new Rows();
    for (let row = 0; row < 200; row++) rows.add(row, 10);
    rows.clock.skip(50);
    const first = rows.take([]);
    expect([first.row, first.asked.length]).toEqual([NO_ROW, 64]);
    expect(rows.take([first.asked[0]!]).asked).toEqual([]);
    const asked = new Set(first.asked);
    for (const all of [128, 192, 200]) {
      rows.clock.skip(1);
      for (const row of rows.take([]).asked) asked.add(row);
      expect(asked.size).toBe(all);
    }
  });

  it('looks at few in all spans together, and goes on with the next where those that it has seen are due later', () => {
    const rows = new Rows();
    for (let row = 0; row < 80; row++) rows.add(row, row < 70 ? 10 + 100 * (row % 2) : 210);
    rows.clock.skip(250);
    for (let row = 0; row < 80; row++) rows.due.set(row, 5_000);
    expect(rows.take([]).asked).toHaveLength(64);
    rows.clock.skip(1);
    // The last one was asked, and not when it is due.
    expect(rows.take([]).asked).toHaveLength(80 - 63);
  });

  it('finds none where there is none', () => {
    expect(new Rows().take([])).toEqual({ row: NO_ROW, asked: [] });
  });

  it('may search and add others itself, as it asks about one: each is found or looked at once', () => {
    for (const asked of [1, 2, 3, 4]) {
      const rows = new Rows();
      for (const row of [1, 2, 3, 4]) rows.add(row, row);
      rows.clock.skip(50);
      const found: number[] = [];
      rows.wheel.takeDue((candidate) => {
        if (candidate !== asked || found.length > 0) return false;
        for (let times = 0; times < 2; times++) found.push(rows.wheel.takeDue(() => true));
        rows.add(5, 60);
        rows.add(6, 5_000);
        return false;
      });
      const left = found.filter((row) => row !== NO_ROW);
      expect(left).not.toContain(asked);
      rows.clock.advance(10_000);
      const looked = rows.looks.map(({ row }) => row);
      expect([...looked, ...left].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(rows.clock.pendingTimers).toBe(0);
    }
  });

  it('leaves none behind that it has passed over where the timer fires meanwhile', () => {
    const rows = new Rows();
    rows.add(1, 50);
    rows.clock.skip(60);
    rows.wheel.takeDue(() => {
      rows.clock.advance(100);
      return false;
    });
    rows.clock.advance(100);
    expect(rows.looks.map(({ row }) => row)).toEqual([1]);
    expect(rows.clock.pendingTimers).toBe(0);
  });

  it('leaves none behind that it has passed over where it fails', () => {
    const rows = new Rows();
    for (const row of [1, 2, 3]) rows.add(row, row);
    rows.clock.skip(50);
    expect(() =>
      rows.wheel.takeDue((candidate) => {
        if (candidate === 1) throw new Error('who knows?');
        return false;
      }),
    ).toThrow('who knows?');
    rows.clock.advance(1_000);
    expect(rows.looks.map(({ row }) => row)).toEqual([3, 2, 1]);
  });
});
