-- _4_leases.lua: ends of leases.
-- Marks of a lease say what stands beside its URL, else it need not be looked for: 1 tries, 2 deaths, 4 spelling, 8 request.

local BESIDE = {tries = 1, deaths = 2, spelling = 4, request = 8}

local function unpacked(packed) return packed and cmsgpack.unpack(packed) end

-- Ends a lease if `token` is its newest; returns it, or nil when somebody else has it or it is decided.
local function leave(url, token)
  local lease = unpacked(call('HGET', key('leases'), url))
  if not lease or token and lease[1] ~= tonumber(token) then return nil end
  call('HDEL', key('leases'), url)
  call('ZREM', key('ends'), url)
  call('SREM', key('held:' .. lease[2]), url)
  if call('SREM', key('downloading'), url) == 1 then -- nobody said that it is over
    call('HINCRBY', server_of(lease[3]), 'active', -1)
    wake(lease[3], now_ms(), by_turn())
  end
  if lease[6] >= 2 and call('HGET', key('alone'), lease[2]) == url then call('HDEL', key('alone'), lease[2]) end
  count('leased', -1)
  return lease
end

local function forget(names, member)
  for name, mark in pairs(BESIDE) do
    if math.floor(names / mark) % 2 == 1 then call('HDEL', key(name), member) end
  end
end

-- Nothing of a server waits or is out: it is no newcomer any more, and what is known of its pace goes when it would be due.
local function rest(server, now)
  call('HDEL', site_of(server), 'newcomer', 'trying', 'out')
  local politeness = call('HMGET', server_of(server), 'next', 'active', 'backoff', 'delay', 'blocked')
  if tonumber(politeness[2] or 0) > 0 or tonumber(politeness[3] or 0) > 0 or politeness[4] or politeness[5] then return end
  call('PEXPIREAT', server_of(server), math.max(tonumber(politeness[1] or 0), now + 1000))
end

-- A lease whose end is known: nothing of the URL stays but its id among the seen.
local function decide(lease, now)
  forget(lease[6], lease[3] .. ' ' .. lease[4])
  if call('HINCRBY', site_of(lease[3]), 'out', -1) <= 0 and call('EXISTS', queue_of(lease[3])) == 0 then rest(lease[3], now) end
end

-- No document came of a lease: its server is a newcomer still, and has its turn before it.
local function no_document(server, now, turns)
  if turns and call('HDEL', site_of(server), 'trying') == 1 then wake(server, now, turns) end
end

-- Back into the queue, at its old place.
local function requeue(lease, now, turns)
  call('HDEL', site_of(lease[3]), 'trying')
  call('HINCRBY', site_of(lease[3]), 'out', -1)
  call('ZADD', queue_of(lease[3]), lease[5], lease[4])
  count('queued', 1)
  wake(lease[3], now, turns)
end

-- Puts what was to be tried again back into its queue; returns the server, which may stand elsewhere now.
local function try_again(member)
  local server, path = string.match(member, '^(%S+) (.*)$')
  call('ZREM', key('retry'), member)
  call('HINCRBY', site_of(server), 'out', -1)
  call('ZADD', queue_of(server), string.match(call('HGET', key('tries'), member), ' (.*)$'), path)
  return server
end

-- Decides all that a blocked server has waiting, some at a time; returns how many.
local function drop(server, some, now)
  local popped = call('ZPOPMIN', queue_of(server), some)
  local dropped = #popped / 2
  for i = 1, #popped, 2 do forget(15, server .. ' ' .. popped[i]) end
  if dropped > 0 then
    count('queued', -dropped)
    count('failed/blocked', dropped)
    if tonumber(call('HGET', site_of(server), 'out') or 0) <= 0 and call('EXISTS', queue_of(server)) == 0 then rest(server, now) end
  end
  return dropped
end

-- A page of a prefix says something new, or repeats; a prefix that mostly repeats goes behind all others.
-- Returns 1 when URLs of it wait ahead of others that should not.
local function judge(lease, prefix, repeats, most)
  local site, name = site_of(lease[3]), '=' .. prefix
  local known = call('HMGET', site, name, prefix)
  if most == 0 or not (repeats or known[1]) then return 0 end
  local number, seen = tonumber(known[1] or 0) + (repeats and 1 or -1), tonumber(known[2] or 1)
  if number <= 0 then call('HDEL', site, name) else call('HSET', site, name, number) end
  if number >= most and seen > 0 then
    seen = -seen
    call('HSET', site, prefix, seen)
  end
  return repeats and seen < 0 and tonumber(lease[5]) < BEHIND and 1 or 0
end
