-- Bucket that gets the tokens of a period at its end. State: the last boundary in µs, missing tokens.
-- @numbers limit_N tokens_N period_N
-- @fields r m
-- @values reference_N missing_N
-- @steady m
-- @section load
local reference_N, missing_N = tonumber(FIELD_1), tonumber(FIELD_2) or 0
if not reference_N then
  reference_N, is_whole = now, true
elseif now - reference_N >= period_N then
  local passed = math.floor((now - reference_N) / period_N)
  reference_N, is_whole = reference_N + passed * period_N, true
  missing_N = math.max(0, missing_N - passed * tokens_N)
end
-- @section ready
if refusing == 0 and limit_N - missing_N < need then refusing = N end
-- @section take
missing_N = missing_N + permits
-- @section wait
if limit_N - missing_N < need then
  local wait_N = reference_N + math.ceil((need - limit_N + missing_N) / tokens_N) * period_N - now
  if refusing == N then wait = wait_N end
  if wait_N > longest then longest = wait_N end
end
-- @section tell
out[size + 1] = limit_N - missing_N
out[size + 2] = missing_N > 0 and reference_N + math.ceil(missing_N / tokens_N) * period_N - now or 0
size = size + 2
-- @section save
local full_N = reference_N + math.ceil(missing_N / tokens_N) * period_N
if full_N > full then full = full_N end
-- @section load_back
local back_N = load_back(name_N .. 'b', 1, now - (math.ceil(limit_N / tokens_N) + 1) * period_N)
-- @section give_back
do
  local tokens = math.min(missing_N, permits)
  if not is_reserved then
    local passed = math.max(0, math.ceil(missing / tokens_N) - (full_at - reference_N) / period_N)
    local unpaid = missing - passed * tokens_N - forward(back_N, granted_at, missing)
    tokens = math.max(0, math.min(tokens, unpaid))
  end
  missing_N = missing_N - tokens
  note_back(back_N, granted_at, missing, tokens)
end
-- @section save_back
save_back(back_N)
