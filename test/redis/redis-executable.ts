import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Serves several Jest workers: apt locks, and waits for who comes first. */
const INSTALL =
  'apt-get -o DPkg::Lock::Timeout=300 update && apt-get -o DPkg::Lock::Timeout=300 install -y redis-server';

let found: string | undefined;

/**
 * The path of `redis-server`: from the PATH, else installed with apt where that is possible.
 * @throws Error - that says what to do.
 */
export function redisExecutable(): string {
  found ??= onPath() ?? installed();
  return found;
}

function onPath(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, 'redis-server')).find((path) => existsSync(path));
}

function installed(): string {
  const isRoot = process.getuid?.() === 0;
  if (isRoot && existsSync('/usr/bin/apt-get')) {
    spawnSync('sh', ['-c', INSTALL], {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    const path = onPath();
    if (path !== undefined) return path;
  }
  throw new Error(
    'These tests need a Redis server of version 6.2 or later and start it themselves, but there is no redis-server on ' +
      'the PATH. Install it (Debian, Ubuntu: "apt-get update && apt-get install redis-server"; macOS: "brew install ' +
      'redis"), or put the folder of your own build on the PATH. It need not run.',
  );
}
