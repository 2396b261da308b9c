import { OpenPages } from './open-pages.js';
import { KeyColumn } from './key-column.js';
import { makePackedKey, packKey } from './packed-key.js';
import { PartitionPage } from './partition-page.js';
import { PAGE_ROWS } from './rows.js';

const never = (): never => {
  throw new Error('Nobody asks here.');
};

/** A page without anything on it. */
class EmptyPage extends PartitionPage {
  readonly table = { changes: 0 };

  replenish = never;
  attempt = never;
  acquireOrWait = never;
  limiterAt = never;
  statistics = never;
  refresh = never;
  declaredByWaiters = never;
  isEvictable = never;
  dueMs = never;
  tidy = never;
  end = never;

  constructor(number = 0, keyWidth = 4) {
    super(number, keyWidth, KeyColumn.ofWidth(keyWidth));
  }
}

describe('a page of partitions', () => {
  it('has so many places, each given once', () => {
    const page = new EmptyPage();
    expect([page.isEmpty, page.isFull]).toEqual([true, false]);
    const places = new Set<number>();
    const wrong: number[] = [];
    for (let count = 1; count <= PAGE_ROWS; count++) {
      places.add(page.occupy(0));
      if (page.isEmpty || page.isFull !== (count === PAGE_ROWS)) wrong.push(count);
    }
    expect(wrong).toEqual([]);
    expect(places.size).toBe(PAGE_ROWS);
    expect(Math.min(...places)).toBe(0);
    expect(Math.max(...places)).toBe(PAGE_ROWS - 1);
  });

  it('gives those again that have become free, and is empty when all have', () => {
    const page = new EmptyPage();
    for (let count = 0; count < PAGE_ROWS; count++) page.occupy(0);
    page.free(7);
    page.free(500);
    expect(page.isFull).toBe(false);
    expect([page.occupy(0), page.occupy(0)].sort((a, b) => a - b)).toEqual([7, 500]);
    expect(page.isFull).toBe(true);
    let isEmptyTooSoon = false;
    for (let index = 0; index < PAGE_ROWS; index++) {
      isEmptyTooSoon ||= page.isEmpty;
      page.free(index);
    }
    expect([isEmptyTooSoon, page.isEmpty]).toEqual([false, true]);
  });

  it('knows the generation of options that each was brought to', () => {
    const page = new EmptyPage();
    const [first, second] = [page.occupy(0), page.occupy(3)];
    expect([first, second].map((index) => page.generationOf(index))).toEqual([0, 3]);
    page.bringTo(first, 4);
    page.bringTo(second, 0);
    expect([first, second].map((index) => page.generationOf(index))).toEqual([4, 0]);
  });
});

describe('pages with room', () => {
  it('are found by the width of their keys, the last first', () => {
    const open = new OpenPages<EmptyPage>();
    expect(open.find(4)).toBeUndefined();
    const [one, two, wide] = [new EmptyPage(0), new EmptyPage(1), new EmptyPage(2, 10)];
    for (const page of [one, two, wide]) open.add(page);
    expect([open.find(4), open.find(10), open.find(6)]).toEqual([two, wide, undefined]);
    open.remove(two);
    expect(open.find(4)).toBe(one);
    open.remove(one);
    expect(open.find(4)).toBeUndefined();
    expect(open.find(10)).toBe(wide);
  });
});

describe('a column of keys', () => {
  it('tells a key from others, word by word', () => {
    const column = KeyColumn.ofWidth(4);
    const packed = makePackedKey();
    const put = (index: number, key: string): void => column.put(index, key, packed, packKey(key, packed));
    const isAt = (index: number, key: string): boolean => {
      const words = packKey(key, packed);
      return column.matches(index, packed, words);
    };
    // As long as the column is wide: the one beside it begins right behind.
    put(1, 'abcdefghijklmno');
    put(0, '0123456789abcde');
    expect([isAt(0, '0123456789abcde'), isAt(1, 'abcdefghijklmno')]).toEqual([true, true]);
    for (const other of ['0123456789abcdX', 'X123456789abcde', '012345678', 'abcdefghijklmno']) {
      expect(isAt(0, other)).toBe(false);
    }
    column.remove(0);
    expect([column.hasKey(0), column.hasKey(1)]).toEqual([false, true]);
  });
});
