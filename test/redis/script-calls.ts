import type { Redis } from 'ioredis';

/** How many scripts a server was asked to run, by their text or by their hash. */
export async function scriptCalls(admin: Redis): Promise<number> {
  const stats = await admin.info('commandstats');
  const counts = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].map(([, calls]) => Number(calls));
  return counts.reduce((sum, calls) => sum + calls, 0);
}
