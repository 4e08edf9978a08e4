-- settle-2.lua: gives waiting URLs the states that the catalog remembers, without leases; in the order in which they were fetched.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] repeats that put a shape, a server or a domain behind, 0: never
-- ARGV[2] msgpack of {server, path, what to count ("done/REASON", "failed/REASON", "quarantined") or "" if it is to be tried again,
--         tries, ms since it was fetched or may be tried again (negative: until then), is a document, repeats another, domain}
-- Returns nothing.
-- Keeps   a URL that does not wait in a queue, or waits to be checked, stays as it is: a second call changes nothing.      Cost O(log queue) each.
local now, turns, most = now_ms(), by_turn(), tonumber(ARGV[1])
local turn, marks, servers = tonumber(call('HGET', key('counts'), 'turn') or 0), 0, {}
for name, mark in pairs(BESIDE) do marks = marks + call('EXISTS', key(name)) * mark end

local function try_later(server, path, score, tries, ms)
  call('HINCRBY', site_of(server), 'out', 1)
  call('HSET', key('tries'), server .. ' ' .. path, tries .. ' ' .. score)
  call('ZADD', key('retry'), ms, server .. ' ' .. path)
end

local function settle(server, path, score, outcome, tries, ago, is_document, repeats, domain)
  local ms = now - ago
  if outcome == '' then return try_later(server, path, score, tries, ms) end
  forget(marks, server .. ' ' .. path)
  tally('queued', -1)
  tally(outcome, 1)
  if outcome == 'quarantined' then call('HSET', key('quarantined'), server .. path, ms .. ' ' .. tries .. ' parsers') end
  end_newcomer(server, tonumber(call('HGET', site_of(server), 'out') or 0))
  if not is_document then return end
  call('HDEL', site_of(server), 'newcomer', 'trying')
  if most > 0 then count_repeat(server, path, domain, repeats, most) end
end

for _, one in ipairs(cmsgpack.unpack(ARGV[2])) do
  local server, path = one[1], one[2]
  local score = call('ZSCORE', queue_of(server), path)
  if score and tonumber(score) >= FIRST then -- checks of documents stay
    call('ZREM', queue_of(server), path)
    turn = turn + 1
    servers[server] = turn
    settle(server, path, score, unpack(one, 3))
  end
end
for server, last in pairs(servers) do
  call('HSET', key('turns'), server, last)
  remove(server)
  wake(server, now, turns)
end
if next(servers) then call('HSET', key('counts'), 'turn', turn) end
write_tallies()
