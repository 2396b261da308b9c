import type { SystemProgram } from './debian-program.js';
import { pathOf } from './debian-program.js';

const REDIS: SystemProgram = {
  names: ['redis-server', 'valkey-server'],
  variable: 'REDIS_SERVER',
  debianPackage: 'redis-server',
  advice:
    'These tests need a Redis server of version 6.2 or later and start it themselves, but there is no redis-server on ' +
    'the PATH. Install it (Debian, Ubuntu: "apt-get update && apt-get install redis-server"; macOS: "brew install ' +
    'redis"), or name your own build, or that of Valkey, in REDIS_SERVER. It need not run.',
};

/**
 * The path of `redis-server`, or of what stands in for it.
 * @throws Error - that says what to do.
 */
export function redisExecutable(): string {
  return pathOf(REDIS);
}
