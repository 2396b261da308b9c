import {
  asyncOnly,
  isRateLimitError,
  ObjectDisposedError,
  rangeError,
  show,
  throwCollected,
} from './errors.js';

describe('an error of this package', () => {
  it.each([null, undefined, 'text', 7, {}, new RangeError('of somebody else'), () => 0])(
    'is none of the like of %p',
    (value) => {
      expect(isRateLimitError(value)).toBe(false);
      expect(value).not.toBeInstanceOf(ObjectDisposedError);
    },
  );

  it('is known by its brand, and shows its code', () => {
    const error = rangeError('ERR_RL_INVALID_OPTION', 'wrong');
    expect(isRateLimitError(error)).toBe(true);
    expect(error).not.toBeInstanceOf(ObjectDisposedError);
    expect(Object.keys(error)).toContain('code');
    expect(new ObjectDisposedError('x')).toBeInstanceOf(ObjectDisposedError);
    expect(asyncOnly({})).toMatchObject({ code: 'ERR_RL_ASYNC_ONLY' });
  });
});

describe('a value in a message', () => {
  it.each<[unknown, string]>([
    [function named() {}, 'function named'],
    [() => 0, 'function (anonymous)'],
    ['x'.repeat(60), `"${'x'.repeat(60)}"`],
    ['x'.repeat(61), `"${'x'.repeat(60)}…"`],
    [1n, '1n'],
    [[1, 2], 'an array of 2'],
    [Object.create(null), 'an object (no prototype)'],
    [-0, '-0'],
    [null, 'null'],
  ])('%p is shown as %s', (value, shown) => {
    expect(show(value)).toBe(shown);
  });
});

describe('errors that were collected', () => {
  it('are thrown alone as they are, together as one, and none not at all', () => {
    const [one, other] = [new Error('one'), new Error('other')];
    expect(() => throwCollected([], 'several')).not.toThrow();
    expect(() => throwCollected([one], 'several')).toThrow(one);
    expect(() => throwCollected([one, other], 'several')).toThrow(
      new AggregateError([one, other], 'several'),
    );
  });
});
