import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument, ROOT } from './markdown.js';

/** The codes that the sources of the packages name. A package that is private is planned, and has no users yet. */
function codesOfSources(): Set<string> {
  const libraries = readdirSync(join(ROOT, 'libs')).map((name) => join(ROOT, 'libs', name));
  const files = libraries.filter(isPublished).flatMap(sourcesOf);
  const texts = files.map((file) => readFileSync(file, 'utf8'));
  return new Set(texts.flatMap((text) => text.match(/\bERR_RL_[A-Z_]+/g) ?? []));
}

function isPublished(library: string): boolean {
  const manifest = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8')) as { private?: boolean };
  return manifest.private !== true;
}

function sourcesOf(library: string): string[] {
  const folder = join(library, 'src');
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /(?<!\.spec)\.ts$/.test(name)).map((name) => join(folder, name));
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
