import type { Block } from './markdown.js';
import { blocksOf, documents } from './markdown.js';

/**
 * What a snippet promises beyond its types, by the words behind `ts`. It needs at least one of the first four, or
 * one that continues it has.
 *
 * - `run`: it runs, and each `console.log(…); // → text` prints that text.
 * - `boot`: its `AppModule` boots.
 * - `throws`: it throws, or its `AppModule` doesn't boot, with the message of the `text` block below it.
 * - `spec`: its tests pass.
 * - `continued`: what the snippets above it have declared holds on.
 */
const PROMISES: readonly string[] = ['run', 'boot', 'throws', 'spec', 'continued'];
/** Blocks that promise nothing of their own: what is typed into a terminal or comes out of one, data, pictures. */
const OTHER_LANGUAGES = new Set(['sh', 'text', 'http', 'json']);

/** A TypeScript block of a document, with what it stands on. */
export interface Snippet {
  /** `README.md:27`. */
  readonly place: string;
  readonly file: string;
  readonly heading: string;
  readonly code: string;
  readonly promises: ReadonlySet<string>;
  /** The block below it, if it is text. */
  readonly textBelow: string | undefined;
}

/** All snippets of all documents. Throws for a block that nobody would test. */
export function readSnippets(): Snippet[] {
  return documents().flatMap(snippetsOf);
}

function snippetsOf(file: string): Snippet[] {
  const snippets: Snippet[] = [];
  const blocks = blocksOf(file);
  let context = '';
  for (const [index, block] of blocks.entries()) {
    if (OTHER_LANGUAGES.has(block.language) && block.words.length === 0) continue;
    checkWords(block, blocks[index + 1]);
    context = block.words.includes('continued') ? `${context}\n${block.text}` : block.text;
    const below = blocks[index + 1];
    snippets.push({
      place: `${file}:${block.line}`,
      file,
      heading: block.heading,
      code: context,
      promises: new Set(block.words),
      textBelow: below?.language === 'text' ? below.text : undefined,
    });
  }
  return snippets;
}

function checkWords({ file, line, language, words }: Block, below: Block | undefined): void {
  const unknown = words.find((word) => !PROMISES.includes(word));
  const isTested = words.some((word) => word !== 'continued') || below?.words.includes('continued') === true;
  if (language === 'ts' && unknown === undefined && isTested) return;
  throw new Error(
    `${file}:${line}: "${[language, ...words].join(' ')}" is no block that is tested. TypeScript is "ts" with ` +
      `some of ${PROMISES.join(', ')}; other blocks are ${[...OTHER_LANGUAGES].join(', ')}.`,
  );
}
