#!/usr/bin/env node
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCli } from './run-cli.js';

interface Manifest {
  readonly name?: string;
  readonly version?: string;
}

/** From the manifest of the package that this file belongs to; it is usually run through a link. */
function version(): string {
  let folder = dirname(realpathSync(process.argv[1]!));
  for (; dirname(folder) !== folder; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    const { name, version } = existsSync(manifest)
      ? (JSON.parse(readFileSync(manifest, 'utf8')) as Manifest)
      : {};
    if (name === '@ratelease/simulate' && version !== undefined) return version;
  }
  return 'unknown';
}

// Whoever reads the output may stop early: `| head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

void (async () => {
  process.exitCode = await runCli({
    args: process.argv.slice(2),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    version: version(),
  });
})();
