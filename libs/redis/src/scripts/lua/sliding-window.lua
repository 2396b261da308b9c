-- Window that moves segment by segment. State: anchor in µs, current segment, permits granted in each segment as
-- `segment=permits …` with the oldest first, and the numbers that the segments are counted by. Segment k begins at
-- anchor + k * window / segments.
-- @numbers limit_N window_N segments_N
-- @fields a c g n
-- @values anchor_N current_N sliding_text(granted_N) numbers_N
-- @steady c g
-- @functions
local function sliding_granted(text, moved, oldest)
  local granted, used = {}, 0
  for segment, permits in string.gmatch(text, '(-?%d+)=(%d+)') do
    if segment - moved >= oldest then
      granted[#granted + 1] = { segment - moved, tonumber(permits) }
      used = used + permits
    end
  end
  return granted, used
end

local function sliding_text(granted)
  local texts = {}
  for index = 1, #granted do
    texts[index] = string.format('%.0f=%.0f', granted[index][1], granted[index][2])
  end
  return table.concat(texts, ' ')
end

-- All of it as granted in segment 0.
local function sliding_sum(text)
  local _, used = sliding_granted(text or '', 0, -math.huge)
  return string.format('0=%.0f', used)
end

-- When the last of it was granted at the latest, by the numbers `window/segments` that it was counted by.
local function sliding_latest(text, anchor, numbers)
  local window, segments = string.match(numbers, '(.+)/(.+)')
  local newest = string.match(text or '', '(-?%d+)=%d+$') or -1
  return anchor + math.ceil((newest + 1) * window / segments)
end

-- The segment after whose return so many permits are free.
local function sliding_return(granted, free, need, current)
  for index = 1, #granted do
    if free >= need then break end
    free, current = free + granted[index][2], granted[index][1]
  end
  return current
end
-- @section load
local anchor_N, current_N = tonumber(FIELD_1) or now, tonumber(FIELD_2) or 0
local numbers_N, granted_N, used_N, late_N = window_N .. '/' .. segments_N, {}, 0, 0
do
  local text = FIELD_3
  if FIELD_4 and FIELD_4 ~= numbers_N then
    -- Under other numbers everything counts as granted when the last of it was at the latest: nothing comes back too
    -- early. Not as granted now, which would be later with each question, as refusals write nothing: until then they have
    -- to tell a wait that is so much longer.
    local latest = sliding_latest(text, anchor_N, FIELD_4)
    anchor_N, text, is_whole = math.min(now, latest), sliding_sum(text), true
    current_N, late_N = 0, math.max(0, latest - now)
  end
  local windows = math.max(0, math.floor((now - anchor_N) / window_N))
  if windows > 0 or not FIELD_4 then is_whole = true end
  anchor_N = anchor_N + windows * window_N
  current_N = math.max(current_N - windows * segments_N, math.floor((now - anchor_N) * segments_N / window_N))
  if text then
    granted_N, used_N = sliding_granted(text, windows * segments_N, current_N - segments_N + 1)
  end
end
-- @section ready
if refusing == 0 and limit_N - used_N < need then refusing = N end
-- @section take
local last_N = granted_N[#granted_N]
if last_N and last_N[1] == current_N then
  last_N[2] = last_N[2] + permits
elseif permits > 0 then
  granted_N[#granted_N + 1] = { current_N, permits }
end
used_N = used_N + permits
if permits > 0 then late_N = 0 end
-- @section wait
if limit_N - used_N < need then
  -- More than the limit: what was taken comes back once more, so many windows later.
  local rounds = math.floor((need - 1) / limit_N)
  local segment = sliding_return(granted_N, limit_N - used_N, need - rounds * limit_N, current_N - segments_N)
  local boundary = math.ceil((segment + segments_N) * window_N / segments_N)
  local wait_N = anchor_N + boundary + rounds * window_N - now + late_N
  if refusing == N then wait = wait_N end
  if wait_N > longest then longest = wait_N end
end
-- @section tell
local newest_N, reset_N = granted_N[#granted_N], 0
if newest_N then reset_N = anchor_N + math.ceil((newest_N[1] + segments_N) * window_N / segments_N) - now + late_N end
out[size + 1], out[size + 2] = limit_N - used_N, reset_N
size = size + 2
-- @section save
local full_N = anchor_N + math.ceil((current_N + segments_N) * window_N / segments_N)
if full_N > full then full = full_N end
-- @section give_back
for index, grant in ipairs(granted_N) do
  if anchor_N + math.ceil((grant[1] + segments_N) * window_N / segments_N) == full_at then
    grant[2] = math.max(0, grant[2] - permits)
    if grant[2] == 0 then table.remove(granted_N, index) end
    break
  end
end
