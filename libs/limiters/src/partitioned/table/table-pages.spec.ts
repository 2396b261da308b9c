import { ConcurrencyLimiter } from '../../index.js';
import type { LimiterKind } from '../../engine/limiter-plan.js';
import type { LimiterOptions } from '../../engine/limiter-options.js';
import { concurrencyLimiterKind } from '../../concurrency/concurrency-limiter.js';
import { FakeClock } from '../../testing/index.js';
import { CellGroups } from './cell-groups.js';
import { ReplenishmentBeat } from './replenishment-beat.js';
import { indexOf, PAGE_ROWS, pageOf } from './rows.js';
import { TablePages } from './table-pages.js';

const clock = new FakeClock();
const place = { keyWidth: 4, generation: 0 };
const options = { permitLimit: 1, clock };
const kind = concurrencyLimiterKind as unknown as LimiterKind<LimiterOptions>;

function pages() {
  const context = {
    originMs: 0,
    idleTimeout: 1_000,
    clock,
    changes: 0,
    read: () => 0,
    limiterFor: () => null,
  };
  const table = new TablePages(context, new ReplenishmentBeat(clock, undefined));
  const group = new CellGroups(clock).groupFor(kind, options)!;
  const limiter = new ConcurrencyLimiter(options);
  return { table, group, limiter };
}

describe.each(['numbers', 'limiters'])('the pages of a table, with rows of %s', (what) => {
  const rows = () => {
    const { table, group, limiter } = pages();
    const add = (): number =>
      what === 'numbers' ? table.addState(group, place, 0) : table.addLimiter(limiter, 'key', place);
    const free = (row: number): void => table.free(table.list[pageOf(row)]!, indexOf(row));
    return { table, add, free };
  };

  it('are filled one after the other, each place once', () => {
    const { table, add } = rows();
    const added = Array.from({ length: 2 * PAGE_ROWS + 1 }, add);
    expect(new Set(added).size).toBe(added.length);
    expect([Math.min(...added), Math.max(...added)]).toEqual([0, 2 * PAGE_ROWS]);
    expect(table.list).toHaveLength(3);
  });

  it('have room again where a row has left, and go when all have', () => {
    const { table, add, free } = rows();
    const added = Array.from({ length: PAGE_ROWS }, add);
    free(added[7]!);
    expect([add(), add()]).toEqual([7, PAGE_ROWS]);
    expect(table.list).toHaveLength(2);
    for (const row of added) free(row);
    expect([table.list[0], table.list[1]?.isEmpty]).toEqual([undefined, false]);
    // Those on the page that is left stay there, then the number of the other one is used again.
    const more = Array.from({ length: PAGE_ROWS }, add);
    expect(new Set(more.map(pageOf))).toEqual(new Set([1, 0]));
    expect(more.filter((row) => pageOf(row) === 0)).toHaveLength(1);
    expect(table.list).toHaveLength(2);
  });
});
