import { setTimeout as after } from 'node:timers/promises';
import { createRedisPartitions } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { TestServer } from '../../../../test/redis/test-server.js';

const server = TestServer.forThisFile();
const DAY_MS = 86_400_000;

test('times beyond those of a timer are long, not none: leases are not renewed all the time', async () => {
  const warnings: Error[] = [];
  const listener = (warning: Error): void => void warnings.push(warning);
  process.on('warning', listener);
  const shared = createRedisPartitions({ client: server.client, commandTimeoutMs: 100 * DAY_MS });
  const options = { permitLimit: 1, queueLimit: 1, leaseTtlMs: 100 * DAY_MS };
  const slots = limiterOf(shared.getConcurrencyLimiter('slots', () => options));
  const lease = await slots.acquire();
  expect(lease.isAcquired).toBe(true);
  expect(await server.callsOf(() => after(60))).toBe(0);
  await shared.dispose();
  process.off('warning', listener);
  expect(warnings).toEqual([]);
});
