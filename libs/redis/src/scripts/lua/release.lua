-- Ends leases and waits of a concurrency limiter, and gives what is free to those who wait, in the same step.
-- What is neither held nor waited for any more is passed over: a release of the past does nothing.
--
-- KEYS, ARGV  see the include; then the leases and waits, as `id*permits`
--
-- Returns {now, how many there were}.

-- @include clock
-- @include one-concurrency
local ended = 0
for index = FIRST, #ARGV do
  local member = ARGV[index]
  if call('ZREM', held.leases, member) == 1 then
    held.used = math.max(0, held.used - permits_of(member))
    ended = ended + 1
  elseif leave_queue(held, member) then
    ended = ended + 1
  end
end
if ended == 0 then return { now, 0 } end
if held.next_end <= now then reap(held) end
hand_over(held)
save_one()
return { now, ended }
