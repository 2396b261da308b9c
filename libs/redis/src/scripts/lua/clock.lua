-- The present in µs since 1970. All times of a script come from this one reading.
local call, tonumber, math = redis.call, tonumber, math
local now, time = tonumber(ARGV[1]), nil
if now < 0 then
  time = call('TIME')
  now = time[1] * 1000000 + time[2]
end
