-- Gives rates back what grants took, as if they had never been: grants that nobody waits for any more, and those
-- whose requests were refused elsewhere. What time has brought back already is not given twice: a bucket pays the
-- oldest debt first, so that of what a grant took as much is left as of all that was missing after it, without what came
-- back meanwhile of what had been missing before. Of what was reserved, and granted to nobody, a bucket is given all: as
-- if time would never have brought it back.
--
-- One script gives back for one list of algorithms, put together like the one that decides.
--
-- KEYS[1]    the key of the partition
-- ARGV[1]    the time in µs since 1970, for tests; negative: the server's
-- ARGV[2]    the field of the process' record; ARGV[3] the sequence number of the record
-- then for each limiter its name and its numbers
-- then for each grant its permits, the moment in µs at which it was made, negative where they were reserved and granted to
--   nobody, and for each limiter the moment at which everything was to be back after it, and the permits that were
--   missing then
--
-- Returns {now}. The same call sent twice gives back once.

-- @include clock
local key, process, sequence, arg = KEYS[1], ARGV[2], ARGV[3], 4
local is_whole, full, full_at, missing = true, 0, 0, 0
-- @include records
-- @include came-back
-- @functions
-- @each numbers
local values = call('HMGET', key, 'e', process, FIELDS)
if not values[1] or values[2] == sequence then return { now } end
-- @each load
-- @each load_back
while arg <= #ARGV do
  local permits = tonumber(ARGV[arg])
  local moment = tonumber(ARGV[arg + 1])
  local is_reserved, granted_at = moment < 0, math.abs(moment)
  arg = arg + 2
  -- @each give_back
end
-- @each save
local expires = math.max(tonumber(values[1]), full + KEEP)
call('HSET', key, 'e', expires, process, sequence, ALL_PAIRS)
-- @each save_back
call('PEXPIRE', key, math.ceil((expires - now) / 1000))
return { now }
