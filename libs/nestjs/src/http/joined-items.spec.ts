import { JoinedItems } from './joined-items.js';

describe('joined items', () => {
  it.each([
    ['the same ones', ['a', 'b'], ['a', 'b']],
    ['others', ['a', 'b'], ['a', 'c']],
    ['fewer', ['a', 'b'], ['a']],
    ['more', ['a'], ['a', 'b']],
    ['none', ['a', 'b'], []],
    ['some after none', [], ['a', 'b']],
  ])('are those that were added last: %s', (_, first, second) => {
    const joined = new JoinedItems();
    for (const items of [first, second, second, first]) {
      for (const item of items) joined.add(item);
      expect(joined.take()).toBe(items.join(', '));
    }
  });
});
