-- discover-2.lua: takes URLs into the frontier, once each.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] msgpack of the limits   ARGV[2] msgpack of the links   (see _4_intake.lua)
-- ARGV[3] "" or what names the page that they stand on: its links raise URLs that wait once, however often they are sent
-- Returns {how many were new, how many were refused, {servers whose path prefixes should be sent}}; a fourth where links are to be told of.
-- Keeps   seen and queued grow by the same number.      Cost O(links * log queue).
local links = cmsgpack.unpack(ARGV[2])
if links[8] ~= '' and call('SADD', key('raised:' .. string.sub(ARGV[3], -4)), ARGV[3]) == 0 then links[8] = '' end
return {take_in(links, cmsgpack.unpack(ARGV[1]), now_ms(), by_turn())}
