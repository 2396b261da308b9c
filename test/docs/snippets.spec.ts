import { PLATFORMS } from '../e2e/nestjs/fixtures/test-app.js';
import { bootSnippet, declareSpec, expectedPrints, runSnippet } from './run-snippet.js';
import type { Snippet } from './snippet.js';
import { readSnippets } from './snippet.js';

const snippets = readSnippets();
const that = (promise: string): Snippet[] => snippets.filter(({ promises }) => promises.has(promise));

describe('the snippets of the documents', () => {
  it('are found', () => {
    const files = new Set(snippets.map(({ file }) => file));
    expect([...files]).toEqual(expect.arrayContaining(['README.md', 'docs/errors.md', 'docs/nestjs.md']));
  });

  it.each(that('run'))('print what they say: $place', async (snippet) => {
    const { printed } = await runSnippet(snippet);
    expect(printed).toEqual(expectedPrints(snippet));
  });

  describe.each(PLATFORMS)('on $name', ({ adapter }) => {
    it.each(that('boot'))('boot: $place', async (snippet) => {
      await bootSnippet(await runSnippet(snippet), adapter());
    });
  });

  describe.each(that('spec'))('pass as a test: $place', (snippet) => {
    declareSpec(snippet);
  });

  it.each(that('throws'))('fail with the message below: $place', async (snippet) => {
    const error = await failureOf(snippet);
    const quoted = snippet.textBelow?.replace(/\s+/g, ' ');
    expect(error.message.replace(/\s+/g, ' ')).toBe(quoted);
    // A heading that is a code promises that code.
    const code = /ERR_RL_\w+/.exec(snippet.heading)?.[0];
    if (code !== undefined) expect((error as { code?: string }).code).toBe(code);
  });
});

async function failureOf(snippet: Snippet): Promise<Error> {
  try {
    const run = await runSnippet(snippet);
    if (run.exports.AppModule !== undefined) await bootSnippet(run, PLATFORMS[0]!.adapter());
  } catch (error) {
    return error as Error;
  }
  throw new Error(`${snippet.place} does not fail.`);
}
