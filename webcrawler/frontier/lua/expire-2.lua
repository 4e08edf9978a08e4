-- expire-2.lua: a worker says that it lives, and takes back the leases of the dead and those past their end.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _common.lua)
-- ARGV[1] worker, "" to speak for none   ARGV[2] ms until it counts as dead
-- Returns how many leases went back into the queue; nothing counts against their URLs.
-- Cost    O(leases taken back * log queue); at most 1,000 a call.
local now, turns, expired = now_ms(), by_turn(), 0
if ARGV[1] ~= '' then call('ZADD', key('workers'), now + tonumber(ARGV[2]), ARGV[1]) end

local function take_back(url)
  local lease = leave(url)
  if lease then
    requeue(lease, now, turns)
    expired = expired + 1
  else
    call('ZREM', key('ends'), url)
  end
end

for _, url in ipairs(call('ZRANGEBYSCORE', key('ends'), '-inf', now, 'LIMIT', 0, 500)) do take_back(url) end
for _, worker in ipairs(call('ZRANGEBYSCORE', key('workers'), '-inf', now, 'LIMIT', 0, 10)) do
  for _, url in ipairs(call('SRANDMEMBER', key('held:' .. worker), 500)) do take_back(url) end
  if call('EXISTS', key('held:' .. worker)) == 0 then call('ZREM', key('workers'), worker) end
end
return expired
