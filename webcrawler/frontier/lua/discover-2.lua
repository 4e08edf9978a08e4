-- discover-2.lua: takes URLs into the frontier, once each.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _common.lua)
-- ARGV[1] number of links, then five each: id, server, path, priority, spelling ("" when canonical)
-- Returns how many were new.
-- Keeps   seen and queued grow by the same number.      Cost O(links * log queue).
return take_in(2, tonumber(ARGV[1]), now_ms(), by_turn())
