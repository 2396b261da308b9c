-- Decides requests for permits: each is granted by all limiters that it asks, or charged to none.
--
-- One script decides for one list of algorithms; the parts of the algorithms (see there) are put in where a line
-- says `each`, once for each limiter, with its number for N. One call can carry several groups, each a partition with
-- the same limiters; and for each group several requests, decided in order. What it costs is mostly calls of
-- redis.call and numbers that become texts: there are as few as can be.
--
-- KEYS       for each group the key of its partition, then three more for each concurrency limiter
-- ARGV[1]    the server's time in µs after which nothing may be decided any more; 0: none; negative, for tests: the
--            present, as -µs since 1970
-- ARGV[2]    the field of the asking process' record; ARGV[3] sequence number of the record
-- then, where a limiter of concurrency takes part, what the channels of the processes begin with
-- then for each limiter its name and its numbers
-- then the permits that each group asks for where all have one request, for as many; else how many groups at the
--   beginning do so, and their permits if there are any; then for each of the others
--   the number of its requests, and for each: permits; permits that wait in the process before it (then it is only looked at, for its waiting time; -1: it goes by the order, and so does who comes after it
--     in this call); and where a limiter of concurrency takes part it as `id*permits`, and a flag: n new,
--     w new and may wait, a asks again
--
-- Returns {now, answers…}; for a group whose requests came after the deadline one answer for all of them, LATE. An
-- answer:
--   granted   0,                             then remaining, µs until all is back, for each limiter
--   refused   i, wait µs, longest wait µs,   then the same; i is the first limiter that refuses, from 1
--   waiting  -i, -1, -1,                     then the same; i is the limiter in whose queue it stands
-- A wait of -1 is unknown; one of -2 too, and there is no place in the queue. Refusals write nothing, but what a dead process held may be taken back on the way.
--
-- A record is the sequence number of the process' last call that wrote, with the outcomes of its requests where
-- they aren't one grant: g granted, r refused, q and the limiter in whose queue it stands. The same call sent twice by
-- the client charges once, and tells again what it told; but a refusal took nothing, and what was given back meanwhile,
-- as releases go before what is sent again, may be free now: that is decided anew.

local KEYS, ARGV, call, tonumber, math, time = KEYS, ARGV, redis.call, tonumber, math, nil
local now, deadline = 0, tonumber(ARGV[1])
if deadline < 0 then
  now = -deadline
else
  time = call('TIME')
  now = time[1] * 1000000 + time[2]
end
local process, sequence, channels = ARGV[2], ARGV[3], ARGV[4]
local out, size, arg = { now }, 1, FIRST_ARGUMENT
local member, request_flag
-- @include records
-- @functions
-- @each numbers
local alike_until, alike = #KEYS, tonumber(ARGV[arg])
if #ARGV > arg then
  alike_until, arg = alike * KEYS_OF_A_GROUP, arg + 1
  if alike_until > 0 then alike, arg = tonumber(ARGV[arg]), arg + 1 end
end
for at = 1, #KEYS, KEYS_OF_A_GROUP do
  local key, requests, single = KEYS[at], 1, alike
  if at > alike_until then requests, single, arg = tonumber(ARGV[arg]), nil, arg + 1 end
  local values = call('HMGET', key, 'e', process, FIELDS)
  local record, replay = values[2], nil
  if record == sequence then
    replay = { 'g' }
  elseif record and not single then
    local told = string.match(record, '^' .. sequence .. ':(%w+)$')
    if told then
      replay = {}
      for outcome in string.gmatch(told, '%a%d*') do replay[#replay + 1] = outcome end
    end
  end
  -- What was carried out in time and is asked for again is told, also to those who come late.
  local is_late = deadline > 0 and now > deadline
  if is_late and not replay then
    if not single then arg = arg + requests * ARGUMENTS_OF_A_REQUEST end
    size, requests = size + 1, 0
    out[size] = LATE
  end
  local outcomes, writes, is_dirty, is_whole, blocked = '', false, false, false, 0
  -- @each load
  for request = 1, requests do
    local permits, ahead = single, 0
    if not single then
      permits, ahead = tonumber(ARGV[arg]), tonumber(ARGV[arg + 1])
      member, request_flag = ARGV[arg + 2], ARGV[arg + 3]
      arg = arg + ARGUMENTS_OF_A_REQUEST
    end
    local in_order = ahead < 0
    if in_order then ahead = blocked end
    local need = (permits > 0 and permits or 1) + ahead
    local outcome, refusing = replay and replay[request], 0
    if outcome == 'r' and not is_late then outcome = nil end
    local is_new = not outcome
    -- @each ready
    if ahead > 0 and refusing == 0 then refusing = 1 end
    if outcome == 'g' or (refusing == 0 and not outcome) then
      if not outcome then
        outcome = 'g'
        -- @each take
      end
      size = size + 1
      out[size] = 0
    else
      -- One of those that come late was refused by a limiter that may be free now.
      local wait, longest, place = -1, -1, math.max(1, refusing)
      if outcome and outcome ~= 'r' then place = -tonumber(string.sub(outcome, 2)) end
      -- @each queue
      if place < 0 then
        outcome = 'q' .. -place
      else
        outcome = 'r'
        if in_order then blocked = blocked + permits end
        -- @each wait
      end
      out[size + 1], out[size + 2], out[size + 3] = place, wait, longest
      size = size + 3
    end
    writes = writes or (is_new and outcome ~= 'r' and (outcome ~= 'g' or permits > 0))
    if requests > 1 or outcome ~= 'g' then outcomes = outcomes .. outcome end
    -- @each tell
  end
  if writes or is_dirty then
    local full = 0
    -- @each save
    local note = writes and (outcomes == '' and sequence or sequence .. ':' .. outcomes) or record or ''
    local expires = tonumber(values[1]) or 0
    if expires < full + KEEP then
      if not record and expires > 0 then
        -- @include drop-records
      end
      expires = full + KEEP + AHEAD
      call('HSET', key, 'e', expires, process, note, ALL_PAIRS)
      call('PEXPIRE', key, math.ceil((expires - now) / 1000))
    elseif is_whole then
      call('HSET', key, process, note, ALL_PAIRS)
    else
      call('HSET', key, process, note, STEADY_PAIRS)
    end
    -- @each keep
  end
end
return out
