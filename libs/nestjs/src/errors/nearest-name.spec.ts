import { suggestion } from './nearest-name.js';

describe('the suggestion for an unknown name', () => {
  it.each([
    ['brust', ['burst', 'sustained'], 'Did you mean "burst"?'],
    ['Burst', ['burst', 'sustained'], 'Did you mean "burst"?'],
    ['sustaned', ['burst', 'sustained'], 'Did you mean "sustained"?'],
    ['other', ['burst', 'sustained'], 'Known policies: "burst", "sustained".'],
    ['x', ['y'], 'Known policies: "y".'],
    ['x', [], 'There are no policies.'],
  ])('for %s among %j is %s', (typed, known, expected) => {
    expect(suggestion(typed, known, 'policies')).toBe(expected);
  });
});
