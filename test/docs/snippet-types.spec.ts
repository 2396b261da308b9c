import { typeErrors } from './snippet-types.js';
import { readSnippets } from './snippet.js';

describe('the snippets of the documents', () => {
  it('compile, each for itself', () => {
    const faults = [...typeErrors(readSnippets())].flatMap(([place, errors]) =>
      errors.map((error) => `${place}: ${error}`),
    );
    expect(faults).toEqual([]);
  });
});
