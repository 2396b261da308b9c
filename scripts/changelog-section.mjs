// What becomes of changesets in CHANGELOG.md.

const HEADINGS = { major: 'Breaking', minor: 'Added', patch: 'Fixed' };
const ORDER = ['major', 'minor', 'patch'];

/**
 * Reads a changeset: the packages with the size of the change between two lines of dashes, then the sentence.
 *
 * @param {string} text
 * @returns {{ size: 'major' | 'minor' | 'patch', packages: string[], sentence: string }}
 */
export function readChangeset(text) {
  const [, head, body] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
  const changes = [...(head ?? '').matchAll(/^['"]?(@?[\w/-]+)['"]?: (major|minor|patch)$/gm)];
  const sentence = body?.trim().replaceAll(/\s+/g, ' ') ?? '';
  if (changes.length === 0 || sentence === '') throw new Error(`This is no changeset:\n${text}`);
  const size = ORDER.find((one) => changes.some(([, , changed]) => changed === one));
  return { size, packages: changes.map(([, name]) => name), sentence };
}

/**
 * The changelog with what was unreleased and the changesets' sentences under the heading of a version.
 *
 * @param {string} changelog
 * @param {{ version: string, date: string, changesets: string[] }} release
 */
export function releasedChangelog(changelog, { version, date, changesets }) {
  const mark = '## [Unreleased]\n';
  const [before, after] = changelog.split(mark);
  if (after === undefined) throw new Error('CHANGELOG.md has no heading "## [Unreleased]".');
  const next = after.search(/^## \[/m);
  const unreleased = (next === -1 ? after : after.slice(0, next)).trim();
  const older = next === -1 ? '' : after.slice(next);
  const parts = withEntries(sectionsOf(unreleased), changesets.map(readChangeset));
  return `${before}${mark}\n## [${version}] - ${date}\n\n${parts.join('\n\n')}\n${older === '' ? '' : `\n${older}`}`;
}

/** What stands before the first heading, and each heading with its list. */
function sectionsOf(unreleased) {
  return unreleased
    .split(/^(?=### )/m)
    .map((section) => section.trim())
    .filter((section) => section !== '');
}

/** Puts the entries behind those that were written by hand, where their heading is there. */
function withEntries(sections, changes) {
  const all = [...sections];
  for (const size of ORDER) {
    const entries = changes.filter((one) => one.size === size).map(entryOf);
    if (entries.length === 0) continue;
    const heading = `### ${HEADINGS[size]}\n`;
    const at = all.findIndex((section) => section.startsWith(heading));
    if (at === -1) all.push(`${heading}\n${entries.join('\n')}`);
    else all[at] = [all[at], ...entries].join('\n');
  }
  return all;
}

function entryOf({ packages, sentence }) {
  return `- ${packages.map((name) => `\`${name}\``).join(', ')}: ${sentence}`;
}
