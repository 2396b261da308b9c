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
  const read = changesets.map(readChangeset);
  const lists = ORDER.map((size) => ({ size, entries: read.filter((one) => one.size === size) }))
    .filter(({ entries }) => entries.length > 0)
    .map(({ size, entries }) => `### ${HEADINGS[size]}\n\n${entries.map(entryOf).join('\n')}`);
  const parts = [unreleased, ...lists].filter((part) => part !== '');
  return `${before}${mark}\n## [${version}] - ${date}\n\n${parts.join('\n\n')}\n${older === '' ? '' : `\n${older}`}`;
}

function entryOf({ packages, sentence }) {
  return `- ${packages.map((name) => `\`${name}\``).join(', ')}: ${sentence}`;
}
