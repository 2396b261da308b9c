-- The key of a partition is a hash: the fields of its limiters, each begun by the limiter's name; `e`, µs until which
-- the key is sure to live; and a record for each process, begun by #. It outlives the moment at which all permits
-- are back by ten seconds, so that boundaries stay where they are; the TTL is set a second later than that, and so
-- at most once a second.
local KEEP, AHEAD = 10000000, 1000000
