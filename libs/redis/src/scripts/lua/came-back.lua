-- What came back to a bucket lately, as `scale granted=missing=back=units …`: when it was granted and how many were missing
-- then, when it came back, and how many units. Who was granted behind it has moved forward in the order in which time
-- pays, which he has not been told: else he would be given back what time has paid for.
local KEPT_AT_MOST = 32

-- Nobody who was granted before `since` has anything left to be paid.
local function load_back(field, scale, since)
  local back, text = { field = field, scale = scale }, call('HGET', key, field) or ''
  local told = tonumber(string.match(text, '^%d+'))
  for granted_at, missing, at, units in string.gmatch(text, '(%d+)=(%d+)=(%d+)=(%d+)') do
    if tonumber(at) >= since then
      units = told == scale and tonumber(units) or math.ceil(units / told * scale)
      back[#back + 1] = { tonumber(granted_at), tonumber(missing), tonumber(at), units }
    end
  end
  return back
end

-- By how much a grant has moved forward. What came back in the same µs may have come back after it.
local function forward(back, granted_at, missing)
  local units = 0
  if granted_at == now then return units end
  for _, one in ipairs(back) do
    local is_before = one[1] < granted_at or one[1] == granted_at and one[2] < missing
    if is_before and one[3] >= granted_at then units = units + one[4] end
  end
  return units
end

local function note_back(back, granted_at, missing, units)
  if units == 0 then return end
  back[#back + 1] = { granted_at, missing, now, units }
  if #back <= KEPT_AT_MOST then return end
  -- Of the oldest two it is forgotten which was which: as if both had been before all whom one of them was before.
  local oldest, next = table.remove(back, 1), back[1]
  back[1] = { math.min(oldest[1], next[1]), 0, math.max(oldest[3], next[3]), oldest[4] + next[4] }
end

local function save_back(back)
  local texts = {}
  for index, one in ipairs(back) do
    texts[index] = string.format('%.0f=%.0f=%.0f=%.0f', one[1], one[2], one[3], one[4])
  end
  if #texts == 0 then return call('HDEL', key, back.field) end
  call('HSET', key, back.field, string.format('%.0f ', back.scale) .. table.concat(texts, ' '))
end
