import { join } from 'node:path';
import { ROOT } from '../docs/markdown.js';

interface Release {
  readonly version: string;
  readonly date: string;
  readonly changesets: readonly string[];
}

const { releasedChangelog } = require(join(ROOT, 'scripts/changelog-section.mjs')) as {
  releasedChangelog: (changelog: string, release: Release) => string;
};

const RELEASE = { version: '0.2.0', date: '2026-12-01' };
const OLD =
  '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- By hand.\n\n## [0.1.0] - 2026-11-01\n\n- Old.\n';
const fix = "---\n'@ratelease/nestjs': patch\n---\n\nA fault\nis gone.\n";
const more = '---\n"@ratelease/limiters": minor\n\'@ratelease/nestjs\': patch\n---\n\nIt does more.\n';

describe('the changelog of a release', () => {
  it('has what was unreleased, with the changesets under the headings of their sizes, and keeps what is older', () => {
    expect(releasedChangelog(OLD, { ...RELEASE, changesets: [fix, more] })).toBe(
      [
        '# Changelog',
        '',
        '## [Unreleased]',
        '',
        '## [0.2.0] - 2026-12-01',
        '',
        '### Added',
        '',
        '- By hand.',
        '- `@ratelease/limiters`, `@ratelease/nestjs`: It does more.',
        '',
        '### Fixed',
        '',
        '- `@ratelease/nestjs`: A fault is gone.',
        '',
        '## [0.1.0] - 2026-11-01',
        '',
        '- Old.',
        '',
      ].join('\n'),
    );
  });

  it('is nothing that a changeset without package or sentence, or a changelog without its heading, could make', () => {
    for (const changeset of ['no dashes', "---\n'@ratelease/nestjs': patch\n---\n", '---\n---\n\nWords.\n']) {
      expect(() => releasedChangelog(OLD, { ...RELEASE, changesets: [changeset] })).toThrow('no changeset');
    }
    expect(() => releasedChangelog('# Changelog\n', { ...RELEASE, changesets: [fix] })).toThrow('Unreleased');
  });
});
