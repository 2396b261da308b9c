import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The top of the repository. */
export const ROOT = join(__dirname, '../..');

/** The package.json of a library, as far as it is looked at here. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly license?: string;
  readonly sideEffects?: boolean;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly engines?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, ExportTarget>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Where one way of loading leads. */
export interface ExportTarget {
  readonly types: string;
  readonly default: string;
}

/** A library of the repository that is published. */
export interface Library {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** What npm says that a package holds. */
export interface PackedLibrary {
  readonly name: string;
  readonly filename: string;
  /** Bytes of the tarball. */
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** The libraries that are published. */
export function libraries(): Library[] {
  return readdirSync(join(ROOT, 'libs'))
    .map((name) => join(ROOT, 'libs', name))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder) => ({ folder, manifest: readManifest(folder) }))
    .filter(({ manifest }) => manifest.private !== true);
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** The names by which the entries of the libraries are loaded: `@ratelease/limiters/testing`. */
export function entryNames(): string[] {
  return libraries().flatMap(({ manifest }) =>
    Object.keys(manifest.exports)
      .filter((subpath) => subpath !== './package.json')
      .map((subpath) => `${manifest.name}${subpath.slice(1)}`),
  );
}

/** Packs all libraries. With a folder the tarballs are written into it, without one npm only says what they would be. */
export function pack(destination?: string): PackedLibrary[] {
  const where = destination === undefined ? ['--dry-run'] : ['--pack-destination', destination];
  const workspaces = libraries().flatMap(({ manifest }) => ['--workspace', manifest.name]);
  const output = npm(['pack', '--json', ...where, ...workspaces], ROOT);
  // What scripts print stands before the answer.
  return JSON.parse(output.slice(output.search(/^[[{]$/m))) as PackedLibrary[];
}

/** Runs npm to its end, and throws with all that it said if it fails. */
export function npm(npmArguments: readonly string[], cwd: string): string {
  try {
    return execFileSync('npm', npmArguments, {
      cwd,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'pipe'],
      // npm of the test run must not tell this one where it is.
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))),
    });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`npm ${npmArguments.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}
