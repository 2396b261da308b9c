import { ShardedMap } from './sharded-map.js';

/** More than one map is made for. */
const COUNT = 4_200;
const symbols = Array.from({ length: 5 }, (_, number) => Symbol(number));

function filled(count: number): ShardedMap<number> {
  const map = new ShardedMap<number>();
  for (let number = 0; number < count; number++) map.add(`key ${number}`, number);
  return map;
}

describe('a map that grows in parts', () => {
  it('finds all that is in it at any size, and nothing else', () => {
    const map = new ShardedMap<number>();
    for (const [number, symbol] of symbols.entries()) map.add(symbol, -number);
    const wrong: unknown[] = [];
    for (let number = 0; number < COUNT; number++) {
      map.add(`key ${number}`, number);
      // The first, the last and one in between, while keys move from the one map to the parts.
      const isRight = [0, number >> 1, number].every((known) => map.get(`key ${known}`) === known);
      const isNext = map.get(`key ${number + 1}`) !== undefined;
      if (!isRight || isNext || map.size !== number + 1 + symbols.length) wrong.push(number);
    }
    for (let number = 0; number < COUNT; number++)
      if (map.get(`key ${number}`) !== number) wrong.push(number);
    expect(wrong).toEqual([]);
    for (const [number, symbol] of symbols.entries()) expect(map.get(symbol)).toBe(-number);
  });

  it('forgets what is deleted, wherever it has moved to, once', () => {
    const map = filled(COUNT);
    map.add(symbols[0], -1);
    const wrong: unknown[] = [];
    for (let number = 0; number < COUNT; number++) {
      map.delete(`key ${number}`);
      map.delete(`key ${number}`);
      if (map.get(`key ${number}`) !== undefined || map.size !== COUNT - number) wrong.push(number);
    }
    expect(wrong).toEqual([]);
    expect(map.get(symbols[0])).toBe(-1);
    map.delete(symbols[0]);
    expect(map.size).toBe(0);
  });

  it('begins anew when it is empty', () => {
    const map = filled(COUNT);
    for (let number = COUNT - 1; number >= 0; number--) map.delete(`key ${number}`);
    map.add('key 1', 17);
    expect([map.size, map.get('key 1'), map.get('key 2')]).toEqual([1, 17, undefined]);
  });

  it('keeps new values of keys that come again while others move', () => {
    const map = filled(4_097);
    // These move last: they are deleted and come again before.
    for (let number = 4_000; number < 4_050; number++) {
      map.delete(`key ${number}`);
      map.add(`key ${number}`, -number);
    }
    for (let number = 5_000; number < 6_000; number++) map.add(`key ${number}`, number);
    for (let number = 4_000; number < 4_050; number++) expect(map.get(`key ${number}`)).toBe(-number);
    expect(map.size).toBe(5_097);
  });

  it('tells long keys apart by what they begin and end with, and all others too', () => {
    const map = filled(COUNT);
    const long = ['a', 'b'].flatMap((first) => ['a', 'b'].map((last) => first + 'x'.repeat(400) + last));
    long.push(`a${'x'.repeat(200)}y${'x'.repeat(199)}a`);
    for (const [index, key] of long.entries()) map.add(key, -index);
    for (const [index, key] of long.entries()) expect(map.get(key)).toBe(-index);
  });
});
