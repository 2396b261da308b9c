-- Permits held as leases. State: permits in use, permits that waiters ask for, waiters, last ticket, a moment in µs
-- before which no lease ends; three more keys hold the leases and the waiters.
-- @numbers limit_N queueLimit_N ttl_N order_N
-- @fields u q w t n
-- @values held_N.used held_N.queued held_N.waiters held_N.ticket next_end_text(held_N)
-- @steady u q w t n
-- @functions
-- @include concurrency-state
-- A request that asks again may hold its lease already; else it is a new one.
local function holds_already(held)
  if request_flag ~= 'a' then return false end
  if call('ZSCORE', held.leases, member) then return true end
  leave_queue(held, member)
  return false
end

local function is_free(held, permits)
  if permits > 0 and held.queued > 0 and held.order == 'o' then return false end
  return held.limit - held.used >= (permits > 0 and permits or 1)
end

-- Where the newest come first, the oldest make room.
local function has_room(held, queue_limit, permits)
  local taken = held.order == 'o' and held.queued or 0
  return permits == 0 or taken + permits <= queue_limit
end

local function make_room(held, queue_limit, permits)
  if not has_room(held, queue_limit, permits) then return false end
  while permits > 0 and held.queued + permits > queue_limit do
    local oldest = call('ZRANGE', held.queue, 0, 0)[1]
    tell_process(held, oldest, 'e')
    leave_queue(held, oldest)
  end
  return true
end

local function enqueue(held, queue_limit, permits)
  if request_flag ~= 'w' or queue_limit == 0 or not make_room(held, queue_limit, permits) then return false end
  held.ticket = held.ticket + 1
  call('ZADD', held.queue, held.ticket, member)
  call('ZADD', held.alive, now + held.ttl, member)
  held.queued, held.waiters, held.is_dirty = held.queued + permits, held.waiters + 1, true
  return true
end
-- @section load
local held_N = load_concurrency(key, name_N, { FIELD_1, FIELD_2, FIELD_3, FIELD_4, FIELD_5 }, at + EXTRA_KEY)
held_N.limit, held_N.ttl, held_N.order = limit_N, ttl_N, order_N
if held_N.next_end <= now then
  reap(held_N)
  hand_over(held_N)
end
-- @section ready
local holds_N = holds_already(held_N)
if refusing == 0 and not holds_N and not is_free(held_N, permits) then refusing = N end
-- @section take
if not holds_N then hold(held_N, member, permits, now + ttl_N) end
-- @section queue
if refusing == N and not outcome and enqueue(held_N, queueLimit_N, permits) then place = -N end
-- @section wait
-- Nobody knows when a lease ends.
if refusing == N and not has_room(held_N, queueLimit_N, permits) then wait = -2 end
-- @section tell
out[size + 1] = limit_N - held_N.used
out[size + 2] = held_N.next_end < math.huge and math.max(0, held_N.next_end - now) or -1
size = size + 2
is_dirty = is_dirty or held_N.is_dirty
-- @section save
if now + 4 * ttl_N > full then full = now + 4 * ttl_N end
-- @section keep
keep_concurrency(held_N, expires)
