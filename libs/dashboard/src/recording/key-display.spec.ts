import { displayOf, keyText } from './key-display.js';

describe('keys', () => {
  it('are hashed so that equal ones stay equal, and nothing of them is left', () => {
    const display = displayOf('hashed');
    expect(display('client=198.51.100.7')).toMatch(/^[0-9a-f]{12}$/);
    expect(display('client=198.51.100.7')).toBe(display('client=198.51.100.7'));
    expect(display('client=198.51.100.7')).not.toBe(displayOf('hashed')('client=198.51.100.7'));
  });

  it('are cut where a client makes them long', () => {
    expect(keyText('x'.repeat(10_000))).toHaveLength(257);
    expect(displayOf('plain')('x'.repeat(10_000))).toBe(`${'x'.repeat(64)}…`);
    expect(displayOf('none')('secret')).toBe('');
  });

  it.each([
    ['a', 'a'],
    [7, '7'],
    [{ tenant: 't', user: 1 }, "{ tenant: 't', user: 1 }"],
    [Symbol('s'), 'Symbol(s)'],
  ])('have a text, whatever they are: %p', (key, text) => {
    expect(keyText(key)).toBe(text);
  });
});
