-- _1_names.lua: keys, the clock and the counts; put before each operation by the loader, with the other _ files.
-- KEYS[1] {crawl:P}:        prefix of what all frontiers share, in partition P
--   clock       string  "newest ahead": about the newest time in ms, and by how many it is ahead of Redis' clock; of virtual crawls the time alone, at which it stands
--   server:S    hash  next (ms when due), active (downloads now), backoff (slow answers in a row), delay (ms, of robots.txt), pace ("1": answers in time, "0": slowly, or not), blocked, waiting (names of frontiers that wait for a place, with spaces between)
-- KEYS[2] {crawl:P}:NAME:   prefix of one frontier; S is a server, D a registrable domain, U a canonical URL = server .. path
--   meta        hash  mode, partitions, turns ("1": servers take turns; "0": the best head of all queues), scope (that waiting URLs were last held against), late ("1": pages that repeat others have brought URLs), caught_up (ms when its owner last left nothing due), heard (ms when a worker last said that it lives)
--   counts      hash  seen, queued, leased, done/REASON, failed/REASON, quarantined, refused/REASON, number, turn, token, window, servers
--   seen:N      set   URL ids (integers: about 8 bytes each)
--   queue:S     zset  path -> score = -priority * 2^32 + discovery number; 2^52 + level * 2^32 + number for what goes behind, -2^52 + number for what is queued again
--   site:S      hash  out (leased, or to be tried again), newcomer (discovery number, until it has a document), trying ("1": a newcomer with a lease out), domain (D, but for its first server); /PREFIX -> URLs so far
--   taken       hash  S -> URLs so far
--   turns       hash  S -> number of its last access
--   domains     hash  D -> URLs so far
--   others      hash  D -> servers so far but the first
--   repeats     hash  "S SHAPE", "S *WIDE SHAPE", S, D -> repeats less fresh documents, of domains that have given repeats
--   windows     hash  D -> URLs of it in the present window of leases, where there is a share
--   retry       zset  "S path" -> ms when it may be tried again         (queued, too)
--   tries       hash  "S path" -> "tries score" of what failed before   (also while leased)
--   deaths      hash  "S path" -> workers that died holding it, and 1,000 more for each that held it alone
--   quarantined hash  U -> "ms times kind": when that was, and how many "workers" or "parsers" it had killed
--   spelling    hash  "S path" -> the URL as first written, where it differs from the canonical one
--   request     hash  "S path" -> JSON of what is special about its fetch
--   note        hash  "S path" -> what the ordering notes of it: the highest number of all links to it
--   again       hash  "S path" -> what it was decided as before it was queued again: "done/document"
--   raised:N    set   pages of which some links were sent before they were completed, where links raise what waits: ids, or "id:first link"
--   ready       zset  S -> rank, lowest next: may be due, and answers in time
--   doubtful    zset  S -> rank: the same, but slow, or never heard of
--   wait        zset  S -> ms when it may be due
--   leases      hash  U -> msgpack {token, worker, S, path, score, marks}
--   downloading set   U of leases whose download is not over
--   ends        zset  U -> lease end, ms
--   held:WORKER set   U that it has leased
--   workers     zset  worker -> alive until, ms
--   marks:FOLDER list "id token" of fetches that a data folder must have   (in partition 0)
--   rebuilding  set   data folders that have to fill it again first          (in partition 0)
--   carried     list  msgpack of {url, spelling, request}: what waited when it was emptied to be filled again   (in partition 0)
--   alone       hash  worker -> U that it holds alone; "" while it lets go of the others
-- A server with a queue is in exactly one of ready, doubtful and wait; a server without one is in none.
-- Channel {crawl:P}:NAME:calls: a server, when another frontier has freed a place of it that this one waits for.
-- The clock is Redis' own (TIME), but time never goes backwards: see now_ms.

local BASE, PREFIX = KEYS[1], KEYS[2]
local NAME = string.sub(PREFIX, #BASE + 1, -2)
local call = redis.call
local TURN = 1099511627776 -- 2^40: ranks of servers in turn stand behind those of newcomers
local NUMBERS = 4294967296 -- 2^32
local BEHIND = 4503599627370496 -- 2^52: behind every priority; level 0: its shape, server or domain repeats, 1: so does what links to it, 2: both
local AHEAD = -BEHIND -- before every priority
local PRIORITY_MAX = 1048575 -- 2^20 - 1
local FIRST = -PRIORITY_MAX * NUMBERS -- scores below are those of checks, which are ahead

-- What stands in Redis are times to wait for. So where TIME was set back, by a second or more, time goes on from the newest that was seen.
-- That is kept to a second: most calls write nothing. Who may not write reads the same.
local function now_ms()
  local newest, ahead = string.match(call('GET', BASE .. 'clock') or '0 0', '^(%d+) ?(%d*)')
  if ahead == '' then return tonumber(newest) end
  local time = call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000) + ahead
  local back = newest - now
  if math.abs(back) >= 1000 then redis.pcall('SET', BASE .. 'clock', math.max(now, newest) .. ' ' .. ahead + math.max(0, back)) end
  return math.max(now, newest)
end

local function key(name) return PREFIX .. name end
local function queue_of(server) return PREFIX .. 'queue:' .. server end
local function site_of(server) return PREFIX .. 'site:' .. server end
local function server_of(server) return BASE .. 'server:' .. server end
local function count(name, by) call('HINCRBY', PREFIX .. 'counts', name, by) end
local function by_turn() return call('HGET', key('meta'), 'turns') == '1' end

-- Runs a command with any number of values: Lua passes at most 8,000 at once. Answers that are lists are joined into one.
local SOME = 4000
local function bulk(command, name, values)
  if #values <= SOME then return call(command, name, unpack(values)) end
  local found = {}
  for first = 1, #values, SOME do
    local answer = call(command, name, unpack(values, first, math.min(first + SOME - 1, #values)))
    for _, value in ipairs(type(answer) == 'table' and answer or {}) do found[#found + 1] = value end
  end
  return found
end
