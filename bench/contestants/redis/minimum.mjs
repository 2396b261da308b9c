import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';

/** Fixed windows, all or nothing: a refusal writes nothing. The time is the key's TTL; nothing is sent twice safely. */
const SCRIPT = `
local cost, used = tonumber(ARGV[1]), {}
for index, key in ipairs(KEYS) do
  used[index] = tonumber(redis.call('GET', key) or '0')
  if used[index] + cost > tonumber(ARGV[2 * index]) then return { 0, index, redis.call('PTTL', key) } end
end
for index, key in ipairs(KEYS) do
  if redis.call('INCRBY', key, ARGV[1]) == cost then redis.call('PEXPIRE', key, ARGV[2 * index + 1]) end
end
return { 1, used[1] }`;

export const contestant = {
  title: 'minimum',
  async open({ port, limits, limit, windowMs }) {
    const client = new Redis(port, '127.0.0.1');
    await client.script('LOAD', SCRIPT);
    const sha = createHash('sha1').update(SCRIPT).digest('hex');
    const decide =
      limits === 1
        ? (key) => client.evalsha(sha, 1, `minimum:{${key}}`, 1, limit, windowMs)
        : (key) =>
            client.evalsha(
              sha,
              2,
              `minimum:{${key}}:one`,
              `minimum:{${key}}:two`,
              1,
              limit,
              windowMs,
              limit,
              2 * windowMs,
            );
    return { decide: async (key) => (await decide(key))[0] === 1 };
  },
};
