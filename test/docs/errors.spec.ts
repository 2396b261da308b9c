import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument, ROOT } from './markdown.js';

/** The codes that the sources of the packages name. */
function codesOfSources(): Set<string> {
  const libraries = join(ROOT, 'libs');
  const files = readdirSync(libraries).flatMap((library) => sourcesIn(join(libraries, library, 'src')));
  const texts = files.map((file) => readFileSync(file, 'utf8'));
  return new Set(texts.flatMap((text) => text.match(/\bERR_RL_[A-Z_]+/g) ?? []));
}

function sourcesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return names.filter((name) => /(?<!\.spec)\.ts$/.test(name)).map((name) => join(folder, name));
  } catch {
    // A planned package has no sources yet.
    return [];
  }
}

describe('docs/errors.md', () => {
  const headings = [...readDocument('docs/errors.md').matchAll(/^#+ (ERR_RL_[A-Z_]+)$/gm)].map(
    ([, code]) => code!,
  );

  it('has a heading for each code of the sources, and for no other', () => {
    expect(codesOfSources().size).toBeGreaterThan(10);
    expect(headings.toSorted()).toEqual([...codesOfSources()].toSorted());
  });

  it('tells of each code what it means, how it looks and what to do', () => {
    const sections = readDocument('docs/errors.md')
      .split(/^#+ (?=ERR_RL_)/m)
      .slice(1);
    for (const section of sections) {
      expect(section).toMatch(/```ts throws\n[\s\S]+?```\n\n```text\n[\s\S]+?```/);
      expect(section).toMatch(/\*\*What to do\.\*\*/);
    }
  });
});
