-- lease-2.lua: hands the best due URLs to one worker.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] worker   ARGV[2] limit   ARGV[3] lease, ms   ARGV[4] places of a server   ARGV[5] delay, ms
-- ARGV[6] how many may be of doubtful servers   ARGV[7] deaths of its workers after which a URL is leased alone
-- ARGV[8] "1" when the worker holds something in another partition   ARGV[9] cap on a Crawl-delay, ms   ARGV[10] "1" for checks only
-- ARGV[11] repeats that put a shape, a server or a domain behind, 0: never   ARGV[12] in how many leases one may be of what is behind while others wait, 0: any
-- ARGV[13] "own" when the partition belongs to this worker, "other" to another; none: to nobody   ARGV[14] ms after which another leases what the owner leaves due
-- Returns {queued, leased, ms until something may be due (-1: nothing waits), 1 while the worker holds a URL alone or lets go of others for it,
--          url, server, spelling or "", request or "", token, tries, "1" of a doubtful server, score, note, what it was before or "", … ten for each lease, best first}.
-- Keeps   a URL is queued or leased, never both; a server never has more downloads than places, a slow one never more than one (Cho 1998, 5.1).
-- Cost    O((limit + due) * log servers); moves at most 256 waiting servers and URLs a call.
local worker, limit_left, lease_ms = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local places, delay_ms, doubtful_left, deaths_max = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local checks_only, most, one_in = ARGV[10] == '1', tonumber(ARGV[11]), tonumber(ARGV[12])
local home, patience_ms = ARGV[13], tonumber(ARGV[14] or 0)
local now, turns = now_ms(), by_turn()
local totals = call('HMGET', key('counts'), 'token', 'turn')
-- Tokens follow the clock: a server that lost its last writes must not give one out twice.
local token, turn = math.max(tonumber(totals[1] or 0), now * 1000), tonumber(totals[2] or 0)

for _, member in ipairs(call('ZRANGEBYSCORE', key('retry'), '-inf', now, 'LIMIT', 0, 256)) do
  wake(try_again(member), now, turns)
end
for _, server in ipairs(call('ZRANGEBYSCORE', key('wait'), '-inf', now, 'LIMIT', 0, 256)) do
  wake(server, now, turns)
end

-- The best servers of `ready` and of `doubtful`, looked up some at a time.
local SOME_HEADS, heads = 31, {}

local function head_in(place)
  local known = heads[place]
  if not known or known.at > #known and known.more then
    known = call('ZRANGE', key(place), 0, SOME_HEADS, 'WITHSCORES')
    known.at, known.more = 1, #known > 2 * SOME_HEADS
    heads[place] = known
  end
  return known[known.at], tonumber(known[known.at + 1])
end

-- Is what is behind to wait, since others are due soon? Asked once there is nothing else to lease.
local is_held_back = nil
local function others_wait()
  if is_held_back == nil then
    is_held_back = false
    for _, server in ipairs(call('ZRANGEBYSCORE', key('wait'), '-inf', now + SOON_MS, 'LIMIT', 0, 100)) do
      local head = head_of(server)
      if head and tonumber(head) < BEHIND then is_held_back = true break end
    end
  end
  return is_held_back
end

-- Removes the best server that may be leased from from its set; returns it, its rank, and whether it is doubtful.
local function next_server()
  local best, least, name = nil, nil, nil
  for _, place in ipairs({'ready', doubtful_left > 0 and 'doubtful' or nil}) do
    local server, rank = head_in(place)
    if server and (not least or rank < least) then best, least, name = server, rank, place end
  end
  if not best or checks_only and least >= FIRST then return nil end
  if least >= (turns and 2 * TURN or BEHIND) and one_in > 0 and turn % one_in > 0 and others_wait() then return nil end
  heads[name].at = heads[name].at + 2
  call('ZREM', key(name), best)
  return best, least, name == 'doubtful'
end

-- Puts a server back where it belongs, due at `due` at the earliest. Heads that it may now precede are looked up again.
local function put_back(server, due, pace)
  local head = head_of(server)
  local rank = head and put_server(server, head, due, pace, now, turns)
  for place, known in pairs(rank and heads or {}) do
    if not known.more or rank < tonumber(known[#known]) then heads[place] = nil end
  end
end

-- How many downloads a server may have at a time: one if it is slow or has a Crawl-delay, whose pauses `fetched` keeps.
local function places_of(pace, crawl_delay_ms)
  return (pace == '0' or math.min(tonumber(crawl_delay_ms or 0), tonumber(ARGV[9])) > 0) and 1 or places
end

local is_there = {}
for name in pairs(BESIDE) do is_there[name] = call('EXISTS', key(name)) == 1 end

-- What is kept beside a URL, and the sum of its marks.
local function beside(member)
  local found, marks = {}, 0
  for name, mark in pairs(BESIDE) do
    local value = is_there[name] and call('HGET', key(name), member)
    if value then found[name], marks = value, marks + mark end
  end
  return found, marks
end

local answer, leases, ends, urls = {0, 0, -1, 0}, {}, {}, {}

local function hand_out(server, path, score, rank, doubtful)
  local url = server .. path
  local found, marks = beside(server .. ' ' .. path)
  token, turn = token + 1, turn + 1
  leases[#leases + 1], leases[#leases + 2] = url, cmsgpack.pack({token, worker, server, path, score, marks})
  ends[#ends + 1], ends[#ends + 2] = now + lease_ms, url
  urls[#urls + 1] = url
  local tries = string.match(found.tries or '0 ', '^%d+')
  for _, value in ipairs({url, server, found.spelling or '', found.request or '', token, tries, doubtful and '1' or '0', score, found.note or '0', found.again or ''}) do
    answer[#answer + 1] = value
  end
  call('HSET', key('turns'), server, turn)
  call('HINCRBY', site_of(server), 'out', 1)
  if turns and rank < TURN then call('HSET', site_of(server), 'trying', 1) end
end

-- Where URLs like it have only repeated what is known, the score by which it goes behind; said once of each URL.
local any_repeats = most > 0 and call('EXISTS', key('repeats')) == 1
local function score_behind(server, path, score)
  local old = tonumber(score)
  local level = math.floor((old - BEHIND) / NUMBERS)
  if not any_repeats or old < FIRST or level == 0 or level == 2 or not is_repetitive(server, path, most) then return nil end
  return string.format('%.0f', BEHIND + (level == 1 and 2 or 0) * NUMBERS + old % NUMBERS)
end

local function holds_more() return ARGV[8] == '1' or call('EXISTS', key('held:' .. worker)) == 1 end

-- Is the URL one that has seen workers die? It waits until this worker holds nothing else.
local function must_wait(url, member)
  if not is_there.deaths or deaths_max == 0 or tonumber(call('HGET', key('deaths'), member) or 0) < deaths_max then return false end
  local holds = urls[1] ~= nil or holds_more()
  call('HSET', key('alone'), worker, holds and '' or url)
  limit_left = holds and 0 or 1
  return holds
end

local function lease_from(server, rank, doubtful)
  local politeness = call('HMGET', server_of(server), 'next', 'active', 'pace', 'blocked', 'delay', 'waiting')
  local due, active, pace = tonumber(politeness[1] or 0), tonumber(politeness[2] or 0), politeness[3]
  local room = places_of(pace, politeness[5])
  if politeness[4] then
    drop(server, 1000)
    return put_back(server, now + 10, pace)
  end
  if active >= room then
    await_place(server, politeness[6])
    return put_back(server, math.max(due, now + SOON_MS), pace)
  end
  if due > now then return put_back(server, due, pace) end
  local head = call('ZPOPMIN', queue_of(server))
  local path, score = head[1], head[2] -- as text: Lua would write a number with 14 digits
  if not path then return end -- its queue is lost, which is noticed below
  local behind = score_behind(server, path, score)
  if behind then
    call('ZADD', queue_of(server), behind, path)
    return put_back(server, now, pace)
  end
  if must_wait(server .. path, server .. ' ' .. path) then
    call('ZADD', queue_of(server), score, path)
    return put_back(server, now, pace)
  end
  hand_out(server, path, score, rank, doubtful)
  limit_left, active = limit_left - 1, active + 1
  if doubtful then doubtful_left = doubtful_left - 1 end
  if places > 1 and delay_ms > 0 then due = now + delay_ms end
  call('HSET', server_of(server), 'active', active, 'next', due)
  if active < room then return put_back(server, due, pace) end
  if room > 1 then await_place(server, politeness[6]) end -- others may have some of the places
  put_back(server, math.max(due, now + SOON_MS), pace)
end

-- For how long what is due is still left to the owner.
local left_to_owner_ms = 0
if home == 'other' then
  left_to_owner_ms = math.max(0, patience_ms - (now - tonumber(call('HGET', key('meta'), 'caught_up') or 0)))
  if left_to_owner_ms > 0 then limit_left = 0 end
end

local alone = call('HGET', key('alone'), worker)
if alone and holds_more() then
  limit_left = 0
elseif alone and limit_left > 0 then
  call('HDEL', key('alone'), worker)
end

local tries_left = limit_left + 1000 -- servers that are found not to be due take time too
while limit_left > 0 and tries_left > 0 do
  local server, rank, doubtful = next_server()
  if not server then break end
  lease_from(server, rank, doubtful)
  tries_left = tries_left - 1
end

if urls[1] then
  bulk('HSET', key('leases'), leases)
  bulk('ZADD', key('ends'), ends)
  bulk('SADD', key('downloading'), urls)
  bulk('SADD', key('held:' .. worker), urls)
  call('HSET', key('counts'), 'token', token, 'turn', turn)
  tally('queued', -#urls)
  tally('leased', #urls)
end
write_tallies()

totals = call('HMGET', key('counts'), 'queued', 'leased')
answer[1], answer[2] = tonumber(totals[1] or 0), tonumber(totals[2] or 0)
for _, name in ipairs({'wait', 'retry'}) do
  local first = call('ZRANGE', key(name), 0, 0, 'WITHSCORES')[2]
  if first then
    local ms = math.max(0, math.ceil(tonumber(first) - now))
    if answer[3] < 0 or ms < answer[3] then answer[3] = ms end
  end
end
-- What is counted is somewhere, after each call: else keys were lost.
local nothing_waits = answer[3] < 0 and call('EXISTS', key('ready'), key('doubtful')) == 0
if answer[2] ~= call('HLEN', key('leases')) or nothing_waits and answer[1] ~= 0 then return redis.error_reply('LOST keys of the frontier are missing') end
if call('EXISTS', key('ready')) == 1 or doubtful_left > 0 and call('EXISTS', key('doubtful')) == 1 then answer[3] = 0 end
local leaves_doubtful = doubtful_left <= 0 and call('EXISTS', key('doubtful')) == 1
if home == 'own' and not leaves_doubtful and (answer[3] ~= 0 or is_held_back) then call('HSET', key('meta'), 'caught_up', now) end
if answer[3] == 0 and left_to_owner_ms > 0 then answer[3] = left_to_owner_ms end
answer[4] = call('HEXISTS', key('alone'), worker)
if answer[3] == 0 and answer[4] == 1 then answer[3] = 1000 end
if answer[3] == 0 and (checks_only or is_held_back) and limit_left > 0 then answer[3] = 200 end
return answer
