import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, normalize } from 'node:path/posix';
import type { ExportTarget, Library, PackedLibrary } from './packed-library.js';
import { libraries, pack, ROOT } from './packed-library.js';
import { minifiedAndCompressed } from './shipped-size.js';

let packed: PackedLibrary[];
beforeAll(() => {
  packed = pack();
});

const NEST = '^11.0.0 || ^12.0.0';

/** The most bytes of each package: raise one with the change that needs it, and say in its message what for. */
const BUDGETS = JSON.parse(readFileSync(join(ROOT, 'test/packages/size-budgets.json'), 'utf8')) as Record<
  string,
  Record<string, number>
>;

describe.each(libraries().map((library) => ({ name: library.manifest.name, library })))(
  'the tarball of $name',
  ({ name, library }) => {
    const paths = (): string[] => packed.find((one) => one.name === name)!.files.map(({ path }) => path);
    const read = (path: string): string => readFileSync(join(library.folder, path), 'utf8');

    it('holds what is built, a README, the licence and nothing else', () => {
      const others = paths().filter((path) => !/^dist\/(esm|cjs)\/.*(\.js|\.js\.map|\.d\.ts)$/.test(path));
      expect(others.sort()).toEqual([
        'LICENSE',
        'README.md',
        'dist/cjs/package.json',
        'dist/esm/package.json',
        'package.json',
      ]);
      expect(paths().filter((path) => /spec|test\.|conformance\/.*\.json/.test(path))).toEqual([]);
      expect(read('README.md')).toMatch(new RegExp(`^# ${name}\n`));
    });

    it('has a README whose links lead somewhere on a page that has nothing but the tarball', () => {
      const readme = read('README.md').replace(/```[\s\S]*?```/g, '');
      const links = [...readme.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!.split('#')[0]!);
      expect(links.filter((link) => link !== '' && !isInPackage(link, paths()))).toEqual([]);
      // What stands only in the repository is named, and exists there.
      const named = [...readme.matchAll(/`(docs\/[\w/.-]+)`/g)].map(([, path]) => path!);
      expect(named).toContain('docs/errors.md');
      expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    });

    it('has source maps that carry their sources', () => {
      for (const path of paths().filter((one) => one.endsWith('.js'))) {
        const map = /^\/\/# sourceMappingURL=(\S+)$/m.exec(read(path))?.[1];
        expect(paths()).toContain(`${dirname(path)}/${map}`);
        const { sources, sourcesContent } = JSON.parse(read(`${dirname(path)}/${map}`)) as SourceMap;
        expect(sourcesContent?.filter((text) => text !== null)).toHaveLength(sources.length);
      }
    });

    it('has what its exports name, each format with types of its own', () => {
      for (const [subpath, ways] of Object.entries(library.manifest.exports)) {
        if (typeof ways === 'string') expect(paths()).toContain(normalize(ways));
        else expect(Object.keys(ways)).toEqual(['import', 'require']);
        for (const [way, target] of Object.entries(ways as Record<string, ExportTarget>)) {
          if (typeof ways === 'string') continue;
          const folder = `dist/${way === 'import' ? 'esm' : 'cjs'}${subpath.slice(1)}`;
          expect(target).toEqual({ types: `./${folder}/index.d.ts`, default: `./${folder}/index.js` });
          expect(paths()).toEqual(expect.arrayContaining([`${folder}/index.d.ts`, `${folder}/index.js`]));
        }
      }
    });

    it('imports only its own files and what its package.json names', () => {
      const named = namedPackages(library);
      const known = new Set(paths());
      const missing = paths()
        // What is generated carries modules for the browser as texts.
        .filter((path) => /\.(js|d\.ts)$/.test(path) && !path.includes('.generated.'))
        .flatMap((path) =>
          importsOf(read(path))
            .filter((specifier) => !isThere(specifier, path, known, named))
            .map((specifier) => `${path}: ${specifier}`),
        );
      expect(missing).toEqual([]);
    });

    it('is no larger than its budget, and not so much smaller that the budget guards nothing', async () => {
      const { size, unpackedSize } = packed.find((one) => one.name === name)!;
      const entry = await minifiedAndCompressed(join(library.folder, 'dist/esm/index.js'));
      const sizes = { packed: size, unpacked: unpackedSize, entryMinifiedGzip: entry };
      const budget = BUDGETS[name] ?? BUDGETS['a new package']!;
      const off = Object.entries(sizes).filter(([what, bytes]) => {
        const most = budget[what] ?? 0;
        return bytes > most || (name in BUDGETS && bytes * 1.5 < most);
      });
      expect(off).toEqual([]);
    });

    it('says what it needs: Node, the Nest of its users, and the other packages of the same version', () => {
      const { engines, sideEffects, license, dependencies = {}, version, ...rest } = library.manifest;
      expect({ engines, sideEffects, license }).toEqual({
        engines: { node: '>=20.19.0' },
        sideEffects: false,
        license: 'MIT',
      });
      for (const [dependency, range] of Object.entries(dependencies)) {
        if (dependency.startsWith('@ratelease/'))
          expect(`${dependency} ${range}`).toBe(`${dependency} ${version}`);
      }
      const peers = rest.peerDependencies ?? {};
      for (const [peer, range] of Object.entries(peers)) {
        if (peer.startsWith('@nestjs/')) expect(`${peer} ${range}`).toBe(`${peer} ${NEST}`);
      }
      // A mark for what is no peer would mean nothing.
      expect(Object.keys(peers)).toEqual(
        expect.arrayContaining(Object.keys(rest.peerDependenciesMeta ?? {})),
      );
    });
  },
);

function isInPackage(link: string, files: readonly string[]): boolean {
  return /^https?:/.test(link) || files.includes(normalize(link));
}

interface SourceMap {
  readonly sources: readonly string[];
  readonly sourcesContent?: readonly (string | null)[];
}

function namedPackages({ manifest }: Library): Set<string> {
  return new Set([
    manifest.name,
    ...Object.keys(manifest.dependencies ?? {}),
    ...Object.keys(manifest.peerDependencies ?? {}),
  ]);
}

/** What a file loads or takes types from, however it says so; comments left out. */
function importsOf(text: string): string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const forms = /(?:\bfrom|\bimport\(|\brequire\(|^import)\s*['"]([^'"\n]+)['"]/gm;
  return [...code.matchAll(forms)].map(([, specifier]) => specifier!);
}

function isThere(specifier: string, path: string, files: Set<string>, packages: Set<string>): boolean {
  if (isBuiltin(specifier)) return true;
  if (!specifier.startsWith('.')) {
    const [scope, name] = specifier.split('/') as [string, string | undefined];
    return packages.has(scope.startsWith('@') ? `${scope}/${name}` : scope);
  }
  const target = join(dirname(path), specifier);
  return files.has(path.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target);
}

describe('packing', () => {
  const { folder } = libraries().at(-1)!;
  // Of the same name: that is what the stamps of a build go by.
  const copy = join(mkdtempSync(join(tmpdir(), 'ratelease-unbuilt-')), basename(folder));
  beforeAll(() => {
    for (const part of ['src', 'dist', 'tsconfig.lib.json']) {
      cpSync(join(folder, part), join(copy, part), { recursive: true });
    }
  });
  afterAll(() => rmSync(dirname(copy), { recursive: true }));
  const check = (): { status: number | null; stderr: string } =>
    spawnSync(process.execPath, [join(ROOT, 'scripts/require-built.mjs')], { cwd: copy, encoding: 'utf8' });

  it('is refused where something was not built, or not from the sources as they are', () => {
    for (const { manifest } of libraries().filter((library) => library.manifest.name in BUDGETS)) {
      expect(manifest.scripts?.prepack).toBe('node ../../scripts/require-built.mjs');
    }
    expect(check()).toMatchObject({ status: 0, stderr: '' });
    rmSync(join(copy, 'dist/cjs'), { recursive: true });
    expect(check()).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/has no cjs .* npm run build/) as string,
    });
    writeFileSync(join(copy, 'src/added.ts'), 'export {};');
    expect(check()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('no esm and no cjs') as string,
    });
  });
});
