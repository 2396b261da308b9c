import type { SystemProgram } from './debian-program.js';
import { pathOf } from './debian-program.js';

const REDIS: SystemProgram = {
  names: ['redis-server'],
  debianPackage: 'redis-server',
  advice:
    'These tests need a Redis server of version 6.2 or later and start it themselves, but there is no redis-server on ' +
    'the PATH. Install it (Debian, Ubuntu: "apt-get update && apt-get install redis-server"; macOS: "brew install ' +
    'redis"), or put the folder of your own build on the PATH. It need not run.',
};

/**
 * The path of `redis-server`.
 * @throws Error - that says what to do.
 */
export function redisExecutable(): string {
  return pathOf(REDIS);
}
