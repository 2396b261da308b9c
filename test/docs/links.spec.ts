import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { documents, readDocument, ROOT } from './markdown.js';

/** The links of a document that lead to another place of the repository. */
function linksOf(file: string): string[] {
  const prose = readDocument(file).replace(/```[\s\S]*?```/g, '');
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

/** A heading as the part of an address that leads to it. */
function anchorOf(heading: string): string {
  const text = heading.toLowerCase().replace(/[^\p{Letter}\p{Number}\s_-]/gu, '');
  return text.trim().replace(/\s/g, '-');
}

function anchorsOf(file: string): string[] {
  return [...readDocument(file).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));
}

describe('the links of the documents', () => {
  it.each(documents())('lead somewhere: %s', (file) => {
    const broken = linksOf(file).filter((link) => {
      const [path, anchor] = link.split('#') as [string, string | undefined];
      const target = path === '' ? file : normalize(join(dirname(file), path));
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && !anchorsOf(target).includes(anchor);
    });
    expect(broken).toEqual([]);
  });
});
