-- discover-2.lua: takes URLs into the frontier, once each.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] msgpack of the limits   ARGV[2] msgpack of the links   (see _3_intake.lua)
-- Returns {how many were new, how many were refused, {servers of which path prefixes should be sent}}.
-- Keeps   seen and queued grow by the same number.      Cost O(links * log queue).
return {take_in(cmsgpack.unpack(ARGV[2]), cmsgpack.unpack(ARGV[1]), now_ms(), by_turn())}
