-- postpone-2.lua: makes a server not due before a time, and sets its Crawl-delay.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] server   ARGV[2] ms from now   ARGV[3] Crawl-delay, ms, "0" for none, "" to leave it
-- Returns nothing.      Cost O(log servers).
local now, politeness = now_ms(), server_of(ARGV[1])
local due = math.max(now + tonumber(ARGV[2]), tonumber(call('HGET', politeness, 'next') or 0))
call('HSET', politeness, 'next', due)
if ARGV[3] == '0' then
  call('HDEL', politeness, 'delay')
elseif ARGV[3] ~= '' then
  call('HSET', politeness, 'delay', ARGV[3])
end
wake(ARGV[1], now, by_turn())
