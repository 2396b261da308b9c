import { otherCopies } from './other-copies.js';

type Copies = typeof import('./other-copies.js');

/** The file once more, as a program has it that gets the package as ESM and as CommonJS. */
function loadedAgain(): Copies {
  let loaded: Copies | undefined;
  jest.isolateModules(() => {
    loaded = jest.requireActual<Copies>('./other-copies.js');
  });
  return loaded!;
}

describe('the classes of other copies', () => {
  class Service {}
  class SameService {}
  class Stranger {}

  it('are found by every copy, whichever was loaded first, and are never the own one', () => {
    const again = loadedAgain();
    expect(again.otherCopies).not.toBe(otherCopies);
    expect(otherCopies('package.Service', Service)).toEqual([]);
    expect(otherCopies('package.Stranger', Stranger)).toEqual([]);
    expect(again.otherCopies('package.Service', SameService)).toEqual([Service]);
    expect(otherCopies('package.Service', Service)).toEqual([SameService]);
    expect(otherCopies('package.Service', Service)).toEqual([SameService]);
  });
});
