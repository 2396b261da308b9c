-- Gives rates back what a grant took, as if it had never been: for a grant that nobody waits for any more, and for
-- one whose request was refused elsewhere. What time has brought back already is not given twice.
--
-- One script gives back for one list of algorithms, put together like the one that decides.
--
-- KEYS[1]    the key of the partition
-- ARGV[1]    the time in µs since 1970, for tests; negative: the server's
-- ARGV[2]    permits
-- ARGV[3]    the field of the process' record; ARGV[4] the sequence number of the record
-- then for each limiter: its name and its numbers; the moment in µs at which the grant's window or segment is over
--   (0 for buckets)
--
-- Returns {now}. The same call sent twice gives back once.

-- @include clock
local key, process, permits, sequence, arg = KEYS[1], ARGV[3], tonumber(ARGV[2]), ARGV[4], 5
local is_whole, full, full_at = true, 0, 0
-- @include records
-- @functions
-- @each numbers_and_end
local values = call('HMGET', key, 'e', process, FIELDS)
if not values[1] or values[2] == sequence then return { now } end
-- @each load
-- @each give_back_at_end
-- @each save
local expires = math.max(tonumber(values[1]), full + KEEP)
call('HSET', key, 'e', expires, process, sequence, ALL_PAIRS)
call('PEXPIRE', key, math.ceil((expires - now) / 1000))
return { now }
