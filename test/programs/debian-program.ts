import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program of the system that tests start. */
export interface SystemProgram {
  /** What it may be called. */
  readonly names: readonly string[];
  /** An environment variable that leads to it, wherever it is. */
  readonly variable?: string;
  /** The package of Debian and Ubuntu. */
  readonly debianPackage: string;
  /** What to tell whoever has to install it. */
  readonly advice: string;
}

const found = new Map<SystemProgram, string>();

/**
 * The path of a program: that of its variable, else from the PATH, else installed with apt where that is possible.
 * @throws Error - that says what to do.
 */
export function pathOf(program: SystemProgram): string {
  let path = found.get(program);
  if (path === undefined) {
    path = named(program) ?? onPath(program) ?? installed(program);
    found.set(program, path);
  }
  return path;
}

function named({ variable, advice }: SystemProgram): string | undefined {
  const path = variable === undefined ? undefined : process.env[variable];
  if (path === undefined || path === '') return undefined;
  if (!existsSync(path)) throw new Error(`${variable} is ${path}, where nothing is. ${advice}`);
  return path;
}

function onPath({ names }: SystemProgram): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return paths.find((path) => existsSync(path));
}

function installed(program: SystemProgram): string {
  const isRoot = process.getuid?.() === 0;
  if (isRoot && existsSync('/usr/bin/apt-get')) {
    // Several Jest workers may want it at once: apt locks, and waits for who comes first.
    const apt = 'apt-get -o DPkg::Lock::Timeout=300';
    spawnSync('sh', ['-c', `${apt} update && ${apt} install -y ${program.debianPackage}`], {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    const path = onPath(program);
    if (path !== undefined) return path;
  }
  throw new Error(program.advice);
}
