-- _2_servers.lua: which servers are ready, which wait, and in what order.

-- The rank of a server, from the score of its queue's first URL; lower is earlier.
local function rank(server, head, turns)
  if not turns or tonumber(head) < FIRST then return tonumber(head) end
  local turn = tonumber(call('HGET', key('turns'), server) or 0)
  if tonumber(head) >= BEHIND then return (2 + math.floor((head - BEHIND) / NUMBERS)) * TURN + turn end
  local site = call('HMGET', site_of(server), 'newcomer', 'trying')
  if site[1] and not site[2] then return tonumber(site[1]) end
  return TURN + turn
end

-- Puts a server that is in none of the three sets into the right one: by when it is due, its pace, and the score of its first URL.
-- Returns its rank; nil if it must wait.
local function put_server(server, head, due, pace, now, turns, newcomer)
  if due > now then
    call('ZADD', key('wait'), due, server)
    return nil
  end
  local place, found = pace == '1' and 'ready' or 'doubtful', turns and newcomer or rank(server, head, turns)
  call('ZADD', key(place), found, server)
  return found
end

local function enter_server(server, head, now, turns, newcomer)
  local politeness = call('HMGET', server_of(server), 'next', 'pace')
  return put_server(server, head, tonumber(politeness[1] or 0), politeness[2], now, turns, newcomer)
end

local function head_of(server) return call('ZRANGE', queue_of(server), 0, 0, 'WITHSCORES')[2] end

-- Removes a server from the set that it is in, if any.
local function remove(server)
  for _, place in ipairs({'wait', 'ready', 'doubtful'}) do
    if call('ZREM', key(place), server) == 1 then return end
  end
end

-- Moves a server with a queue to where it belongs now: ready, doubtful or waiting.
local function wake(server, now, turns)
  local head = head_of(server)
  if head then
    remove(server)
    enter_server(server, head, now, turns)
  else
    call('ZREM', key('wait'), server) -- its queue was lost
  end
end

-- Servers that are due within this time are due soon. One without a free place is looked at again after it, unless a download ends before.
local SOON_MS = 5000

-- Has this frontier called when another one frees a place of a server; `waiting` names those that wait already.
local function await_place(server, waiting)
  if string.find(' ' .. (waiting or '') .. ' ', ' ' .. NAME .. ' ', 1, true) then return end
  call('HSET', server_of(server), 'waiting', (waiting and waiting .. ' ' or '') .. NAME)
end

-- A place of a server is free, and it is due at `due`: so it is for the other frontiers that wait for it, and their workers are told.
-- Returns when it is due for this frontier: a little later, as it would come first each time.
local AFTER_YOU_MS = 50
local function call_waiting(server, waiting, due)
  if not waiting then return due end
  local own = due
  call('HDEL', server_of(server), 'waiting')
  for name in string.gmatch(waiting, '%S+') do
    if name ~= NAME then
      call('ZADD', BASE .. name .. ':wait', 'XX', due, server)
      redis.pcall('PUBLISH', BASE .. name .. ':calls', server) -- not everybody may
      own = math.max(due, now_ms()) + AFTER_YOU_MS
    end
  end
  return own
end

-- Gives a ready server that is no longer a newcomer a turn like the others.
local function take_turn(server)
  for _, place in ipairs({'ready', 'doubtful'}) do
    local old = call('ZSCORE', key(place), server)
    if old and tonumber(old) >= 0 and tonumber(old) < TURN then
      return call('ZADD', key(place), TURN + tonumber(call('HGET', key('turns'), server) or 0), server)
    end
  end
end
