-- Keeps the leases and waits of one process in a concurrency limiter alive, takes back what others let expire, and
-- gives what is free to those who wait.
--
-- KEYS, ARGV  see the include; then the leases and waits, as `id*permits`
--
-- Returns {now, µs until the next lease ends unless renewed (-1: there is none), permits left, and for each lease or
-- wait 1 held, 2 waiting, 0 neither: lost, 3 neither, and where the newest come first: evicted unless it came too late}.

-- @include clock
-- @include one-concurrency

-- A full server refuses the first write of a script where that may need memory, but none behind one that never does.
-- What is in use is kept by as much as there is already.
call('ZREM', held.leases, '')
for index = FIRST, #ARGV do
  local member = ARGV[index]
  if call('ZSCORE', held.leases, member) then
    call('ZADD', held.leases, now + held.ttl, member)
  elseif call('ZSCORE', held.queue, member) then
    call('ZADD', held.alive, now + held.ttl, member)
  end
end
reap(held)
-- A script that was stopped half-way has not counted who it let wait, who then would never be in turn.
if call('ZCARD', held.queue) ~= held.waiters then
  held.queued, held.waiters = permits_in(held.queue)
end
hand_over(held)
local out = { now, held.next_end < math.huge and held.next_end - now or -1, held.limit - held.used }
for index = FIRST, #ARGV do
  local member = ARGV[index]
  local is_held = call('ZSCORE', held.leases, member)
  -- By its place, which a server may have forgotten alone: who stands nowhere is never in turn.
  local is_waiting = not is_held and call('ZSCORE', held.queue, member)
  out[#out + 1] = is_held and 1 or is_waiting and 2 or held.order == 'n' and stored[4] and 3 or 0
end
if held.used > 0 or held.waiters > 0 or stored[1] then save_one() end
return out
