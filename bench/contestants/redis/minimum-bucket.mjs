import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';

/** A bucket as the moment at which it is full again, in µs of the server's time; whole µs per token only. */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now) + ARGV[1] * ARGV[3]
local wait = full - now - ARGV[2] * ARGV[3]
if wait > 0 then return { 0, wait } end
redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000))
return { 1, full - now }`;

export const contestant = {
  title: 'minimum, bucket',
  async open({ port, limit, windowMs }) {
    const client = new Redis(port, '127.0.0.1');
    await client.script('LOAD', SCRIPT);
    const sha = createHash('sha1').update(SCRIPT).digest('hex');
    const us = (windowMs * 1_000) / limit;
    return {
      decide: async (key) => (await client.evalsha(sha, 1, `minimum:{${key}}`, 1, limit, us))[0] === 1,
    };
  },
};
