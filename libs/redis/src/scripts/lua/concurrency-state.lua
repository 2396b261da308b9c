-- The leases and waiters of a concurrency limiter: sorted sets of `id*permits`, the leases by their end, the
-- waiters by their ticket, and the waiters by the moment at which they count as dead (µs). An id begins with the
-- name of its process and a dot.
local REAPED_AT_ONCE = 200
-- Takes a server some 5 ms.
local COUNTED_AT_MOST = 10000

local function permits_of(member) return tonumber(string.match(member, '%*(%d+)$')) end

local function permits_in(set)
  local permits, members = 0, call('ZRANGE', set, 0, -1)
  for _, member in ipairs(members) do permits = permits + permits_of(member) end
  return permits, #members
end

local function load_concurrency(key, name, values, first_key)
  return {
    key = key, name = name, leases = KEYS[first_key], queue = KEYS[first_key + 1], alive = KEYS[first_key + 2],
    used = tonumber(values[1]) or 0, queued = tonumber(values[2]) or 0, waiters = tonumber(values[3]) or 0,
    ticket = tonumber(values[4]) or 0, next_end = tonumber(values[5]) or math.huge, is_dirty = false,
  }
end

local function next_end_text(held) return held.next_end < math.huge and held.next_end or '' end

-- Keys that come and go must have their TTL set anew. They live as long as the key of the partition: leases may last longer
-- for other processes than for this one.
local function keep_concurrency(held, expires)
  local ttl = math.ceil((expires - now) / 1000)
  if held.used > 0 then call('PEXPIRE', held.leases, ttl) end
  if held.waiters == 0 then return end
  call('PEXPIRE', held.queue, ttl)
  call('PEXPIRE', held.alive, ttl)
end

local function hold(held, member, permits, until_us)
  if permits == 0 then return end
  call('ZADD', held.leases, until_us, member)
  held.used, held.is_dirty = held.used + permits, true
  held.next_end = math.min(held.next_end, until_us)
end

local function leave_queue(held, member)
  call('ZREM', held.alive, member)
  if call('ZREM', held.queue, member) == 0 then return false end
  held.queued = math.max(0, held.queued - permits_of(member))
  held.waiters, held.is_dirty = math.max(0, held.waiters - 1), true
  return true
end

-- With what is left, so that the process knows how the limiter stands after a wait. Where the asking user may not
-- publish, the message is as good as lost: an error here would leave half of the state written.
local function tell_process(held, member, word)
  local message = string.format('%s%s %.0f', word, member, held.limit - held.used)
  redis.pcall('PUBLISH', channels .. string.match(member, '^[^.]+'), message)
end

-- A script that was stopped half-way, as its user was not allowed to go on, has counted what it took back as in use, or
-- has not counted what it granted. Many leases are counted at most once while they last; `c`, when they are next.
local function count_in_use(held)
  local leases = call('ZCARD', held.leases)
  if leases > COUNTED_AT_MOST then return end
  if leases > REAPED_AT_ONCE then
    local due = held.name .. 'c'
    if now < (tonumber(call('HGET', held.key, due)) or 0) then return end
    call('HSET', held.key, due, now + held.ttl)
  end
  held.used = permits_in(held.leases)
end

-- Takes the permits of holders back that did not renew their leases.
local function reap(held)
  local ended = call('ZRANGEBYSCORE', held.leases, '-inf', now, 'LIMIT', 0, REAPED_AT_ONCE)
  for _, member in ipairs(ended) do
    call('ZREM', held.leases, member)
    held.used = math.max(0, held.used - permits_of(member))
  end
  local first = call('ZRANGE', held.leases, 0, 0, 'WITHSCORES')
  held.next_end, held.is_dirty = tonumber(first[2]) or math.huge, true
  count_in_use(held)
end

-- Also tells until when it is alive.
local function waiter_in_turn(held)
  while held.waiters > 0 do
    local member = call(held.order == 'n' and 'ZREVRANGE' or 'ZRANGE', held.queue, 0, 0)[1]
    if not member then
      held.waiters, held.queued = 0, 0
      return nil
    end
    local alive_until = tonumber(call('ZSCORE', held.alive, member)) or 0
    if alive_until > now then return member, alive_until end
    leave_queue(held, member)
  end
end

-- Gives what is free to those who wait, in their order, and tells their processes.
local function hand_over(held)
  local member, alive_until = waiter_in_turn(held)
  while member do
    local permits = permits_of(member)
    if held.limit - held.used < (permits > 0 and permits or 1) then return end
    leave_queue(held, member)
    -- Who waits supposes that it lasts as long as the place would have, whoever hands it over.
    hold(held, member, permits, math.max(now + held.ttl, alive_until))
    tell_process(held, member, 'g')
    member, alive_until = waiter_in_turn(held)
  end
end
