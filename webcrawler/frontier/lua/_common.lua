-- _common.lua: what the operations share; put before each of them by the loader.
-- KEYS[1] {crawl:P}:        prefix of what all frontiers share
--   server:S   hash  next (ms when due), active (downloads now), backoff (slow answers in a row), delay (ms, of robots.txt)
-- KEYS[2] {crawl:P}:NAME:   prefix of one frontier; S is a server, U a canonical URL = server .. path
--   meta       hash  mode, turns ("1": servers take turns; "0": the best head of all queues)
--   counts     hash  seen, queued, leased, done/REASON, failed/REASON, quarantined, refused/REASON, number, turn, token, servers
--   seen:N     set   URL ids (integers: about 8 bytes each)
--   queue:S    zset  path -> score = -priority * 2^32 + discovery number
--   retry      zset  "S path" -> ms when it may be tried again         (queued, too)
--   tries      hash  "S path" -> "tries score" of what failed before   (also while leased)
--   spelling   hash  "S path" -> the URL as first written, where it differs from the canonical one
--   ready      zset  S -> rank, lowest next                            (due, with a place free, as far as known)
--   wait       zset  S -> ms when it may be due
--   newcomers  hash  S -> discovery number of a server without a document
--   trying     set   newcomers that have a lease out: their turn is being used
--   turns      hash  S -> number of its last access
--   open       hash  S -> URLs of it that are queued or leased
--   leases     hash  U -> msgpack {token, worker, S, path, score, downloading}
--   ends       zset  U -> lease end, ms        held:WORKER set of U        workers zset worker -> alive until, ms
-- The clock is Redis' own (TIME).

local BASE, PREFIX = KEYS[1], KEYS[2]
local call = redis.call
local TURN = 1099511627776 -- 2^40: ranks of servers in turn stand behind those of newcomers

local function now_ms()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function key(name) return PREFIX .. name end
local function queue_of(server) return PREFIX .. 'queue:' .. server end
local function server_of(server) return BASE .. 'server:' .. server end
local function count(name, by) call('HINCRBY', PREFIX .. 'counts', name, by) end

-- The rank of a server with a queue; lower is earlier.
local function rank(server, by_turn)
  if not by_turn then
    return call('ZRANGE', queue_of(server), 0, 0, 'WITHSCORES')[2]
  end
  local newcomer = call('HGET', key('newcomers'), server)
  if newcomer and call('SISMEMBER', key('trying'), server) == 0 then return newcomer end
  return TURN + tonumber(call('HGET', key('turns'), server) or 0)
end

local function by_turn() return call('HGET', key('meta'), 'turns') == '1' end

-- Puts a server where it belongs: ready, waiting, or nowhere when its queue is empty.
-- It counts on a free place; `lease` looks again.
local function wake(server, now, turns)
  if call('EXISTS', queue_of(server)) == 0 then
    call('ZREM', key('ready'), server)
    call('ZREM', key('wait'), server)
    return
  end
  local due = tonumber(call('HGET', server_of(server), 'next') or 0)
  if due <= now then
    call('ZREM', key('wait'), server)
    call('ZADD', key('ready'), rank(server, turns), server)
  else
    call('ZREM', key('ready'), server)
    call('ZADD', key('wait'), due, server)
  end
end

-- Takes links in; five arguments each from `at`: id, server, path, priority, spelling ("" as canonical).
-- Returns the number of new ones. A waiting server with a free place becomes ready.
local function take_in(at, links, now, turns)
  local fresh, touched = 0, {}
  local number = tonumber(call('HGET', key('counts'), 'number') or 0)
  for i = at, at + 5 * links - 1, 5 do
    local id, server, path = ARGV[i], ARGV[i + 1], ARGV[i + 2]
    if call('SADD', key('seen:' .. tonumber(string.sub(id, -6)) % 4096), id) == 1 then
      fresh, number = fresh + 1, number + 1
      call('ZADD', queue_of(server), number - tonumber(ARGV[i + 3]) * 4294967296, path)
      if ARGV[i + 4] ~= '' then call('HSET', key('spelling'), server .. ' ' .. path, ARGV[i + 4]) end
      if not touched[server] then
        touched[server] = {number = number, fresh = 0}
        touched[#touched + 1] = server
      end
      touched[server].fresh = touched[server].fresh + 1
    end
  end
  if fresh == 0 then return 0 end
  call('HSET', key('counts'), 'number', number)
  count('seen', fresh)
  count('queued', fresh)
  for _, server in ipairs(touched) do
    call('HINCRBY', key('open'), server, touched[server].fresh)
    if call('HSETNX', key('turns'), server, 0) == 1 then
      call('HSET', key('newcomers'), server, touched[server].number)
      count('servers', 1)
    end
    wake(server, now, turns)
  end
  return fresh
end

-- Ends a lease if `token` is its newest; returns it, or nil when somebody else has it or it is decided.
local function leave(url, token)
  local packed = call('HGET', key('leases'), url)
  if not packed then return nil end
  local lease = cmsgpack.unpack(packed)
  if token and lease[1] ~= tonumber(token) then return nil end
  call('HDEL', key('leases'), url)
  call('ZREM', key('ends'), url)
  call('SREM', key('held:' .. lease[2]), url)
  if lease[6] == 1 then call('HINCRBY', server_of(lease[3]), 'active', -1) end
  count('leased', -1)
  return lease
end

-- A lease whose end is known: nothing of the URL stays but its id among the seen.
local function decide(lease)
  local member = lease[3] .. ' ' .. lease[4]
  call('HDEL', key('tries'), member)
  call('HDEL', key('spelling'), member)
  if call('HINCRBY', key('open'), lease[3], -1) <= 0 then call('HDEL', key('open'), lease[3]) end
end

-- No document came of a lease: its server is a newcomer still, unless its known URLs are used up.
local function no_document(server)
  call('SREM', key('trying'), server)
  if call('HEXISTS', key('open'), server) == 0 then call('HDEL', key('newcomers'), server) end
end

-- Back into the queue, at its old place.
local function requeue(lease, now, turns)
  call('ZADD', queue_of(lease[3]), lease[5], lease[4])
  count('queued', 1)
  call('SREM', key('trying'), lease[3])
  wake(lease[3], now, turns)
end
