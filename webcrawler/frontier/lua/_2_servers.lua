-- _2_servers.lua: which servers stand ready, which wait, and in what order.

-- The rank of a server whose queue begins with that score; lower is earlier.
local function rank(server, head, turns)
  if not turns then return head end
  local turn = tonumber(call('HGET', key('turns'), server) or 0)
  if tonumber(head) >= BEHIND then return 2 * TURN + turn end
  local site = call('HMGET', site_of(server), 'newcomer', 'trying')
  if site[1] and not site[2] then return site[1] end
  return TURN + turn
end

-- Puts a server that stands nowhere where it belongs, given the score of its queue's head.
local function enter(server, head, now, turns, newcomer)
  local politeness = call('HMGET', server_of(server), 'next', 'pace')
  local due = tonumber(politeness[1] or 0)
  if due > now then
    call('ZADD', key('wait'), due, server)
  else
    local place = politeness[2] == '1' and 'ready' or 'doubtful'
    call('ZADD', key(place), turns and newcomer or rank(server, head, turns), server)
  end
end

local function remove(server)
  return call('ZREM', key('ready'), server) + call('ZREM', key('doubtful'), server) + call('ZREM', key('wait'), server)
end

-- Puts a server where it belongs by now: ready, doubtful, waiting, or nowhere when its queue is empty.
local function wake(server, now, turns)
  remove(server)
  local head = call('ZRANGE', queue_of(server), 0, 0, 'WITHSCORES')[2]
  if head then enter(server, head, now, turns) end
end
