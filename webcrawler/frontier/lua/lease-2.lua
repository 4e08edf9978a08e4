-- lease-2.lua: hands the best due URLs to one worker.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _common.lua)
-- ARGV[1] worker   ARGV[2] limit   ARGV[3] lease, ms   ARGV[4] places of a server   ARGV[5] delay, ms
-- Returns {queued, leased, ms until something may be due (-1: nothing waits),
--          url, server, path, spelling or "", token, tries, … six for each lease, best first}.
-- Keeps   a URL is queued or leased, never both; a server never has more downloads than places.
-- Cost    O((limit + due) * log servers); moves at most 256 waiting servers and URLs a call.
local worker, limit, lease_ms = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local places, delay_ms = tonumber(ARGV[4]), tonumber(ARGV[5])
local now, turns = now_ms(), by_turn()

for _, member in ipairs(call('ZRANGEBYSCORE', key('retry'), '-inf', now, 'LIMIT', 0, 256)) do
  local server, path = string.match(member, '^(%S+) (.*)$')
  call('ZREM', key('retry'), member)
  local score = string.match(call('HGET', key('tries'), member), ' (.*)$')
  call('ZADD', queue_of(server), score, path)
  wake(server, now, turns)
end
for _, server in ipairs(call('ZRANGEBYSCORE', key('wait'), '-inf', now, 'LIMIT', 0, 256)) do
  wake(server, now, turns)
end

local function is_due(server)
  local politeness = call('HMGET', server_of(server), 'next', 'active')
  local due, active = tonumber(politeness[1] or 0), tonumber(politeness[2] or 0)
  if due <= now and active < places then return true end
  call('ZREM', key('ready'), server)
  -- `fetched` wakes a server whose places are all taken; the second is for one that another frontier holds.
  call('ZADD', key('wait'), math.max(due, now + (active < places and 0 or 1000)), server)
  return false
end

local answer, taken = {0, 0, -1}, 0
-- Tokens follow the clock: a server that lost its last writes must not give one out twice.
local token = math.max(tonumber(call('HGET', key('counts'), 'token') or 0), now * 1000)
while taken < limit do
  local server = call('ZRANGE', key('ready'), 0, 0)[1]
  if not server then break end
  if is_due(server) then
    local head = call('ZPOPMIN', queue_of(server))
    if not head[1] then
      call('ZREM', key('ready'), server)
    else
      local path, url = head[1], server .. head[1]
      token = token + 1
      local tries = string.match(call('HGET', key('tries'), server .. ' ' .. path) or '0 ', '^%d+')
      call('HSET', key('leases'), url, cmsgpack.pack({token, worker, server, path, head[2], 1}))
      call('ZADD', key('ends'), now + lease_ms, url)
      call('SADD', key('held:' .. worker), url)
      local active = call('HINCRBY', server_of(server), 'active', 1)
      if places > 1 and delay_ms > 0 then call('HSET', server_of(server), 'next', now + delay_ms) end
      call('HSET', key('turns'), server, call('HINCRBY', key('counts'), 'turn', 1))
      if turns and call('HEXISTS', key('newcomers'), server) == 1 then call('SADD', key('trying'), server) end
      if active < places then
        wake(server, now, turns)
      else
        call('ZREM', key('ready'), server)
        if call('EXISTS', queue_of(server)) == 1 then call('ZADD', key('wait'), now + 1000, server) end
      end
      taken = taken + 1
      for _, value in ipairs({url, server, path, call('HGET', key('spelling'), server .. ' ' .. path) or '', token, tries}) do
        answer[#answer + 1] = value
      end
    end
  end
end
if taken > 0 then
  call('HSET', key('counts'), 'token', token)
  count('queued', -taken)
  count('leased', taken)
end

local totals = call('HMGET', key('counts'), 'queued', 'leased')
answer[1], answer[2] = tonumber(totals[1] or 0), tonumber(totals[2] or 0)
for _, name in ipairs({'wait', 'retry'}) do
  local first = call('ZRANGE', key(name), 0, 0, 'WITHSCORES')[2]
  if first then
    local ms = math.max(0, math.ceil(tonumber(first) - now))
    if answer[3] < 0 or ms < answer[3] then answer[3] = ms end
  end
end
if call('EXISTS', key('ready')) == 1 then answer[3] = 0 end
return answer
