-- The present in µs since 1970. All times of a script come from this one reading.
local call, now = redis.call, tonumber(ARGV[1])
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end
