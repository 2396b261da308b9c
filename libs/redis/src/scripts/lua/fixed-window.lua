-- Fixed window. State: start of the window in µs, permits used in it. Guarantee and model: as in process.
-- @numbers limit_N window_N
-- @fields s u
-- @values start_N used_N
-- @steady u
-- @section load
local start_N, used_N = tonumber(FIELD_1), tonumber(FIELD_2) or 0
if not start_N then
  start_N, is_whole = now, true
elseif now - start_N >= window_N then
  start_N, used_N, is_whole = start_N + math.floor((now - start_N) / window_N) * window_N, 0, true
end
-- @section ready
if refusing == 0 and limit_N - used_N < need then refusing = N end
-- @section take
used_N = used_N + permits
-- @section wait
if limit_N - used_N < need then
  -- More than the limit: so many windows later. What was used under a higher limit ends with this window all the same.
  local windows = math.ceil((need - limit_N + math.min(used_N, limit_N)) / limit_N)
  local wait_N = start_N + windows * window_N - now
  if refusing == N then wait = wait_N end
  if wait_N > longest then longest = wait_N end
end
-- @section tell
out[size + 1], out[size + 2] = limit_N - used_N, used_N > 0 and start_N + window_N - now or 0
size = size + 2
-- @section save
if start_N + window_N > full then full = start_N + window_N end
-- @section give_back
if start_N + window_N == full_at then used_N = math.max(0, used_N - permits) end
