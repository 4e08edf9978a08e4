-- expire-2.lua: records that a worker is alive; takes back the leases of dead workers and those past their end.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] worker, "" to speak for none   ARGV[2] ms until it counts as dead
-- Returns how many leases were taken back. It does not count as a try; a URL that two workers held alone when they died is quarantined.
-- Cost    O(leases taken back * log queue); at most 1,000 a call.
local now, turns, expired = now_ms(), by_turn(), 0
-- When a worker comes or goes, partitions get new owners, who have not fallen behind yet.
local function begin_anew() call('HSET', key('meta'), 'caught_up', now) end
local heard, alive_ms = tonumber(call('HGET', key('meta'), 'heard') or now), tonumber(ARGV[2])
if ARGV[1] ~= '' then
  call('HSET', key('meta'), 'heard', now)
  -- Nobody was heard for so long: Redis was away, and no worker is dead for that. (Those known to be dead have 0.)
  for _, worker in ipairs(now - heard > alive_ms and call('ZRANGEBYSCORE', key('workers'), 1, now) or {}) do
    call('ZADD', key('workers'), now + alive_ms, worker)
  end
end
if ARGV[1] ~= '' and call('ZADD', key('workers'), now + alive_ms, ARGV[1]) == 1 then begin_anew() end

local function take_back(lease, died, alone)
  local url, member = lease[3] .. lease[4], lease[3] .. ' ' .. lease[4]
  expired = expired + 1
  local deaths = died and call('HINCRBY', key('deaths'), member, alone == url and ALONE or 1) or 0
  if died and alone == url and deaths >= ENOUGH then
    tally('quarantined', 1)
    call('HSET', key('quarantined'), url, now .. ' ' .. deaths % ALONE + math.floor(deaths / ALONE) .. ' workers')
    decide(lease)
    no_document(lease[3], now, turns)
  else
    requeue(lease, now, turns)
  end
end

local function take_all_back(urls, died, alone)
  if not urls[1] then return end
  for i, lease in ipairs(end_leases(urls, nil, now, turns)) do
    if lease then take_back(lease, died, alone) else call('ZREM', key('ends'), urls[i]) end
  end
end

take_all_back(call('ZRANGEBYSCORE', key('ends'), '-inf', now, 'LIMIT', 0, 500), false)
for _, worker in ipairs(call('ZRANGEBYSCORE', key('workers'), '-inf', now, 'LIMIT', 0, 10)) do
  local alone = call('HGET', key('alone'), worker)
  take_all_back(call('SRANDMEMBER', key('held:' .. worker), 500), true, alone)
  if call('EXISTS', key('held:' .. worker)) == 0 then
    call('ZREM', key('workers'), worker)
    begin_anew()
    call('HDEL', key('alone'), worker)
  end
end
write_tallies()
return expired
