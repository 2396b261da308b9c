-- Bucket that fills continuously. State: moment in µs up to which is counted, missing units, units per token. What
-- is missing is kept, not what is there: a key that expired is a full bucket, other numbers keep what is spent.
-- @numbers limit_N unit_N rate_N
-- @fields r m q
-- @values moment_text(reference_N) missing_N unit_N
-- @steady r m
-- @functions
-- The server's own text of the present costs less than to write its number.
local function moment_text(us)
  if us == now and time and #time[2] == 6 then return time[1] .. time[2] end
  return us
end
-- @section load
local reference_N, missing_N, scale_N = tonumber(FIELD_1) or now, tonumber(FIELD_2) or 0, tonumber(FIELD_3)
if scale_N ~= unit_N then
  is_whole = true
  if scale_N then missing_N = math.ceil(missing_N / scale_N * unit_N) end
end
if now > reference_N then
  -- A product beyond 2^53 is inexact, but beyond everything that can be missing.
  missing_N = math.max(0, missing_N - (now - reference_N) * rate_N)
  reference_N = now
end
-- @section ready
if refusing == 0 and missing_N > (limit_N - need) * unit_N then refusing = N end
-- @section take
missing_N = missing_N + permits * unit_N
-- @section wait
if missing_N > (limit_N - need) * unit_N then
  local wait_N = reference_N + math.ceil((missing_N - (limit_N - need) * unit_N) / rate_N) - now
  if refusing == N then wait = wait_N end
  if wait_N > longest then longest = wait_N end
end
-- @section tell
out[size + 1] = math.floor((limit_N * unit_N - missing_N) / unit_N)
out[size + 2] = missing_N > 0 and reference_N + math.ceil(missing_N / rate_N) - now or 0
size = size + 2
-- @section save
local full_N = reference_N + math.ceil(missing_N / rate_N)
if full_N > full then full = full_N end
-- @section load_back
local back_N = load_back(name_N .. 'b', unit_N, now - math.ceil(limit_N * unit_N / rate_N))
-- @section give_back
do
  local units = math.min(missing_N, permits * unit_N)
  if not is_reserved then
    local unpaid = (full_at - reference_N) * rate_N - forward(back_N, granted_at, missing)
    units = math.max(0, math.min(units, unpaid))
  end
  missing_N = missing_N - units
  note_back(back_N, granted_at, missing, units)
end
-- @section save_back
save_back(back_N)
