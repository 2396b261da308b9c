-- The one concurrency limiter that the scripts of its leases are about.
-- KEYS       the key of the partition, and the three keys of the limiter
-- ARGV[1]    the time in µs since 1970, for tests; negative: the server's
-- ARGV[2]    its name; ARGV[3] limit; ARGV[4] µs that a lease lasts; ARGV[5] order of service, o or n
-- ARGV[6]    what the channels of the processes begin with
local channels, key, name = ARGV[6], KEYS[1], ARGV[2]
-- @include records
-- @include concurrency-state
local FIRST = 7
local stored = call('HMGET', key, name .. 'u', name .. 'q', name .. 'w', name .. 't', name .. 'n', 'e')
local held = load_concurrency(key, name, stored, 2)
held.limit, held.ttl, held.order = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]

local function save_one()
  local expires = math.max(tonumber(stored[6]) or 0, now + 4 * held.ttl)
  call('HSET', key, 'e', expires, name .. 'u', held.used, name .. 'q', held.queued, name .. 'w', held.waiters,
    name .. 't', held.ticket, name .. 'n', next_end_text(held))
  call('PEXPIRE', key, math.ceil((expires - now) / 1000))
  keep_concurrency(held, expires)
  -- @include drop-records
end
