-- _5_leases.lua: how leases end.
-- The marks of a lease say what is kept beside its URL, so that only that is looked up: 1 tries, 2 deaths, 4 spelling, 8 request, 16 note, 32 again.

local BESIDE = {tries = 1, deaths = 2, spelling = 4, request = 8, note = 16, again = 32}

-- Deaths of workers that held a URL beside others say little of it, and two of workers that held it alone, enough.
local ALONE, ENOUGH = 1000, 2000 -- in `deaths`

local function unpacked(packed) return packed and cmsgpack.unpack(packed) end

-- The counts of a call, written once, at its end.
local tallies = {}
local function tally(name, by) tallies[name] = (tallies[name] or 0) + by end
local function write_tallies()
  for name, by in pairs(tallies) do
    if by ~= 0 then count(name, by) end
  end
end

-- Ends a download whose end was not reported.
local function end_download(url, server, now, turns)
  if call('SREM', key('downloading'), url) == 1 then
    call('HINCRBY', server_of(server), 'active', -1)
    local politeness = call('HMGET', server_of(server), 'waiting', 'next')
    call_waiting(server, politeness[1], tonumber(politeness[2] or 0))
    wake(server, now, turns)
  end
end

-- The leases of `urls`, by index: false where the token is not the newest (without `tokens`, any will do).
local function newest(urls, tokens)
  local leases, met = bulk('HMGET', key('leases'), urls), {}
  for i, url in ipairs(urls) do
    local lease = not met[url] and unpacked(leases[i])
    leases[i] = lease and (not tokens or lease[1] == tonumber(tokens[i])) and lease or false
    met[url] = met[url] or leases[i]
  end
  return leases
end

-- Ends the leases whose token is the newest, and returns them as `newest` does.
local function end_leases(urls, tokens, now, turns)
  local leases, ended, held = newest(urls, tokens), {}, {}
  for i, url in ipairs(urls) do
    local lease = leases[i]
    if lease then
      ended[#ended + 1] = url
      held[lease[2]] = held[lease[2]] or {}
      table.insert(held[lease[2]], url)
      if math.floor(lease[6] / 2) % 2 == 1 and call('HGET', key('alone'), lease[2]) == url then call('HDEL', key('alone'), lease[2]) end
    end
  end
  if not ended[1] then return leases end
  for i, is_downloading in ipairs(bulk('SMISMEMBER', key('downloading'), urls)) do
    if is_downloading == 1 and leases[i] then end_download(urls[i], leases[i][3], now, turns) end
  end
  bulk('HDEL', key('leases'), ended)
  bulk('ZREM', key('ends'), ended)
  for worker, some in pairs(held) do bulk('SREM', key('held:' .. worker), some) end
  tally('leased', -#ended)
  return leases
end

local function forget(marks, member)
  for name, mark in pairs(BESIDE) do
    if math.floor(marks / mark) % 2 == 1 then call('HDEL', key(name), member) end
  end
end

-- Of a server with no URL out (their number is given) and none waiting, nothing is kept.
local function end_newcomer(server, out)
  if out <= 0 and call('EXISTS', queue_of(server)) == 0 then call('HDEL', site_of(server), 'newcomer', 'trying', 'out', 'domain') end
end

-- Decides a URL for good: only its id is kept, among those seen.
local function decide(lease)
  if lease[6] > 0 then forget(lease[6], lease[3] .. ' ' .. lease[4]) end
  end_newcomer(lease[3], call('HINCRBY', site_of(lease[3]), 'out', -1))
end

-- For a lease that gave no document: its server remains a newcomer and keeps its earlier turn.
local function no_document(server, now, turns)
  if call('HDEL', site_of(server), 'trying') == 1 and turns then wake(server, now, turns) end
end

-- Puts a URL back into its queue, at its old place.
local function requeue(lease, now, turns)
  call('HDEL', site_of(lease[3]), 'trying')
  call('HINCRBY', site_of(lease[3]), 'out', -1)
  call('ZADD', queue_of(lease[3]), lease[5], lease[4])
  tally('queued', 1)
  wake(lease[3], now, turns)
end

-- Puts a URL that was to be tried again back into its queue; returns its server, whose place may have changed.
local function try_again(member)
  local server, path = string.match(member, '^(%S+) (.*)$')
  call('ZREM', key('retry'), member)
  call('HINCRBY', site_of(server), 'out', -1)
  call('ZADD', queue_of(server), string.match(call('HGET', key('tries'), member), ' (.*)$'), path)
  return server
end

-- Decides those of `paths` of a server that wait, without a fetch; returns how many.
local function refuse(server, paths, outcome)
  local refused, retries = 0, call('EXISTS', key('retry')) == 1
  for _, path in ipairs(paths) do
    local member = server .. ' ' .. path
    if retries and call('ZSCORE', key('retry'), member) then try_again(member) end
    if call('ZREM', queue_of(server), path) == 1 then
      forget(63, member)
      refused = refused + 1
    end
  end
  if refused > 0 then
    tally('queued', -refused)
    tally(outcome, refused)
    end_newcomer(server, tonumber(call('HGET', site_of(server), 'out') or 0))
  end
  return refused
end

-- Fails up to `some` waiting URLs of a blocked server; returns how many.
local function drop(server, some)
  return refuse(server, call('ZRANGE', queue_of(server), 0, some - 1), 'failed/blocked')
end
