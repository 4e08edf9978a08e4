-- now-2.lua: asks for the time, which never goes backwards.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- Returns ms since 1970.      Cost O(1).
return now_ms()
