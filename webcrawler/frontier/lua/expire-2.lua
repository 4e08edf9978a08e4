-- expire-2.lua: a worker says that it lives, and takes back the leases of the dead and those past their end.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] worker, "" to speak for none   ARGV[2] ms until it counts as dead
-- Returns how many leases were taken back. Nothing counts against their URLs' tries; one that died with its worker, leased alone, is quarantined.
-- Cost    O(leases taken back * log queue); at most 1,000 a call.
local now, turns, expired = now_ms(), by_turn(), 0
if ARGV[1] ~= '' then call('ZADD', key('workers'), now + tonumber(ARGV[2]), ARGV[1]) end

local function take_back(url, death)
  local held = unpacked(call('HGET', key('leases'), url))
  local alone = held and call('HGET', key('alone'), held[2]) == url
  local lease = leave(url)
  if not lease then
    call('ZREM', key('ends'), url)
    return
  end
  expired = expired + 1
  if alone and death then
    count('quarantined', 1)
    decide(lease, now)
    no_document(lease[3], now, turns)
  else
    if death then call('HINCRBY', key('deaths'), lease[3] .. ' ' .. lease[4], 1) end
    requeue(lease, now, turns)
  end
end

for _, url in ipairs(call('ZRANGEBYSCORE', key('ends'), '-inf', now, 'LIMIT', 0, 500)) do take_back(url, false) end
for _, worker in ipairs(call('ZRANGEBYSCORE', key('workers'), '-inf', now, 'LIMIT', 0, 10)) do
  for _, url in ipairs(call('SRANDMEMBER', key('held:' .. worker), 500)) do take_back(url, true) end
  if call('EXISTS', key('held:' .. worker)) == 0 then
    call('ZREM', key('workers'), worker)
    call('HDEL', key('alone'), worker)
  end
end
return expired
