import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The top of the repository. */
export const ROOT = join(__dirname, '../..');

/** A fenced block of a document. */
export interface Block {
  /** The document, from the top of the repository. */
  readonly file: string;
  /** Where its text begins. */
  readonly line: number;
  readonly language: string;
  /** What stands behind the language. */
  readonly words: readonly string[];
  readonly text: string;
  /** The nearest heading above it. */
  readonly heading: string;
}

/** The documents that people read; `docs/api` is generated, and checked by what generates it. */
export function documents(): string[] {
  const packages = readdirSync(join(ROOT, 'libs')).map((name) => `libs/${name}`);
  return ['.', 'docs', 'docs/adr', 'docs/guides', 'docs/migrating', ...packages].flatMap(markdownIn).sort();
}

function markdownIn(folder: string): string[] {
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.md'));
  return names.map((name) => (folder === '.' ? name : `${folder}/${name}`));
}

/** The text of a document. */
export function readDocument(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** The fenced blocks of a document. */
export function blocksOf(file: string): Block[] {
  const blocks: Block[] = [];
  let heading = '';
  let open: { line: number; info: string; lines: string[] } | null = null;
  for (const [index, line] of readDocument(file).split('\n').entries()) {
    const fence = /^\s*(?:```|~~~)(.*)$/.exec(line);
    if (fence === null) {
      if (open !== null) open.lines.push(line);
      else heading = /^#+ (.+)$/.exec(line)?.[1] ?? heading;
    } else if (open === null) {
      open = { line: index + 2, info: fence[1]!.trim(), lines: [] };
    } else {
      const [language = '', ...words] = open.info.split(/\s+/);
      blocks.push({ file, line: open.line, language, words, text: open.lines.join('\n'), heading });
      open = null;
    }
  }
  if (open !== null) throw new Error(`${file}:${open.line - 1}: this block has no end.`);
  return blocks;
}
