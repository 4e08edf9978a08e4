-- _3_intake.lua: takes links in, once each, within the budgets.
-- Links are {groups, ids, paths, scores less the discovery number before, {index: spelling}, {index: request}};
-- a group {server, domain, number of links, path prefixes or nil} has the next so many places of the other lists.
-- Limits are {URLs of a server, of a domain, servers of a domain, URLs of a prefix, URLs of a domain in every, so many leases, URLs queued}; 0: none.
-- What is asked or told of all servers of a page is one command each: most of the time of a call is that of its commands.

local SEEN = PREFIX .. 'seen:'
local WATCHED = 1000 -- URLs of a server from which on its path prefixes are counted

local function highest(limits)
  local found = {}
  for i, n in ipairs(limits) do found[i] = n > 0 and n or math.huge end
  return found
end

-- The groups that have new links, with those. A set for each last four digits of ids: 10,000 sets of integers.
local function unseen(links)
  local fresh, ids, i = {}, links[2], 0
  for _, group in ipairs(links[1]) do
    local new, n = {}, 0
    group.first = i + 1
    for _ = 1, group[3] do
      i = i + 1
      local id = ids[i]
      if call('SADD', SEEN .. string.sub(id, -4), id) == 1 then
        n = n + 1
        new[n] = i
      end
    end
    if n > 0 then
      group.new = new
      fresh[#fresh + 1] = group
    end
  end
  return fresh
end

-- How many URLs were taken in of each server so far, and its rank where it stands ready (false: it waits; nil: it has no queue).
local function servers_before(fresh)
  local names = {}
  for n, group in ipairs(fresh) do names[n] = group[1] end
  local taken = bulk('HMGET', key('taken'), names)
  local ready, doubtful, wait = bulk('ZMSCORE', key('ready'), names), bulk('ZMSCORE', key('doubtful'), names), bulk('ZMSCORE', key('wait'), names)
  for n, group in ipairs(fresh) do
    group.before = tonumber(taken[n] or 0)
    group.rank, group.stands = ready[n] or doubtful[n], ready[n] or doubtful[n] or wait[n]
  end
end

-- The URLs so far of domains, of those in the present window of leases too, where there is a share.
local function domains_before(fresh, limits, turn)
  local names, domains, window = {}, {}, math.floor(turn / math.max(1, limits[6]))
  for n, group in ipairs(fresh) do names[n] = group[2] end
  local known = bulk('HMGET', key('domains'), names)
  for n, name in ipairs(names) do domains[name] = {urls = tonumber(known[n] or 0), taken = 0, share = 0} end
  if limits[5] > 0 then
    for n, name in ipairs(names) do names[n] = name .. ' ' .. window end
    known = bulk('HMGET', key('windows'), names)
    for n, group in ipairs(fresh) do domains[group[2]].share, domains[group[2]].window = tonumber(known[n] or 0), names[n] end
  end
  return domains
end

local function all_after(fresh, domains)
  local servers, urls = {}, {}
  for _, group in ipairs(fresh) do
    if group.new[1] then servers[#servers + 1], servers[#servers + 2] = group[1], group.before + #group.new end
  end
  for name, domain in pairs(domains) do
    if domain.taken > 0 then urls[#urls + 1], urls[#urls + 2] = name, domain.urls + domain.taken end
    if domain.taken > 0 and domain.window then call('HSET', key('windows'), domain.window, domain.share + domain.taken) end
  end
  if servers[1] then
    bulk('HSET', key('taken'), servers)
    bulk('HSET', key('domains'), urls)
  end
end

-- What is over a budget was not seen: a later link may bring it in.
local function refuse(id, reason, refused)
  call('SREM', SEEN .. string.sub(id, -4), id)
  refused[reason] = (refused[reason] or 0) + 1
end

-- URLs so far of the path prefixes of a group; below 0 when one goes behind.
local function prefixes_before(group)
  if not group[4] then return nil end
  local known, numbers = bulk('HMGET', site_of(group[1]), group[4]), {}
  for n, name in ipairs(group[4]) do numbers[name] = tonumber(known[n] or 0) end
  return numbers
end

local function prefixes_after(group, numbers)
  local fields = {}
  for name, number in pairs(numbers) do fields[#fields + 1], fields[#fields + 2] = name, number end
  bulk('HSET', site_of(group[1]), fields)
end

-- Those of the new links of a group that no budget refuses; prefixes are counted on the way.
local function within_budget(group, ids, numbers, domain, limits, room, refused)
  local kept, before = {}, group.before
  local servers = before == 0 and domain.urls + domain.taken > 0 and 1 + tonumber(call('HGET', key('others'), group[2]) or 0) or 0
  for _, i in ipairs(group.new) do
    local name, taken = numbers and group[4][i - group.first + 1], #kept
    local over = before + taken >= limits[1] and 'budget-server'
      or domain.urls + domain.taken + taken >= limits[2] and 'budget-domain'
      or servers >= limits[3] and 'budget-domain-servers'
      or name and math.abs(numbers[name]) >= limits[4] and 'budget-prefix'
      or domain.share + domain.taken + taken >= limits[5] and 'budget-share'
      or taken >= room and 'full'
    if over then
      refuse(ids[i], over, refused)
    else
      kept[taken + 1] = i
      if name then numbers[name] = numbers[name] + (numbers[name] < 0 and -1 or 1) end
    end
  end
  group.new = kept
end

local function welcome(group, domain, number)
  call('HSET', site_of(group[1]), 'newcomer', number)
  if domain.urls + domain.taken > 0 then call('HINCRBY', key('others'), group[2], 1) end
  count('servers', 1)
end

-- Queues the new links of a group, and puts its server where it belongs by now.
local function queue_up(group, links, start, numbers, domain, now, turns)
  local server, paths, scores, first = group[1], links[3], links[4], nil
  local entries, lowest, n = {}, math.huge, 0
  for _, i in ipairs(group.new) do
    local score = start + scores[i]
    if numbers and numbers[group[4][i - group.first + 1]] < 0 then score = BEHIND + score % NUMBERS end
    if score < lowest then lowest = score end
    entries[n + 1], entries[n + 2] = score, paths[i]
    n = n + 2
  end
  if group.before == 0 then
    first = (start + scores[group.new[1]]) % NUMBERS
    welcome(group, domain, first)
  end
  bulk('ZADD', queue_of(server), entries)
  if not group.stands then
    enter(server, lowest, now, turns, first)
  elseif group.rank and (not turns and lowest < tonumber(group.rank) or turns and lowest < BEHIND and tonumber(group.rank) >= 2 * TURN) then
    wake(server, now, turns)
  end
end

local function keep_beside(links, fresh, name, column)
  for _, group in ipairs(next(column) and fresh or {}) do
    for _, i in ipairs(group.new) do
      if column[i] then call('HSET', key(name), group[1] .. ' ' .. links[3][i], column[i]) end
    end
  end
end

-- Takes the new links of a group in, within the budgets.
local function admit(group, links, start, room, domain, limits, refused, now, turns)
  local number, numbers = #group.new, prefixes_before(group)
  if group.before + number > limits[1] or domain.urls + domain.taken + number > limits[2] or numbers or limits[5] < math.huge
    or number > room or group.before == 0 and domain.urls + domain.taken > 0 then
    within_budget(group, links[2], numbers, domain, limits, room, refused)
  end
  if not group.new[1] then return 0 end
  queue_up(group, links, start, numbers, domain, now, turns)
  domain.taken = domain.taken + #group.new
  if numbers then prefixes_after(group, numbers) end
  return #group.new
end

-- Returns how many were new, how many were refused, and the servers of which path prefixes should be sent.
local function take_in(links, limits, now, turns)
  local fresh = unseen(links)
  if not fresh[1] then return 0, 0, {} end
  local counts = call('HMGET', key('counts'), 'number', 'turn', 'seen', 'queued')
  for i = 1, 4 do counts[i] = tonumber(counts[i] or 0) end
  local room = limits[7] > 0 and math.max(1, limits[7] - counts[4]) or math.huge -- EW: one a page when full
  servers_before(fresh)
  local domains = domains_before(fresh, limits, counts[2])
  local most, taken, refused, over, watched = highest(limits), 0, {}, 0, {}
  for _, group in ipairs(fresh) do
    taken = taken + admit(group, links, counts[1], room - taken, domains[group[2]], most, refused, now, turns)
    if not group[4] and group.before + #group.new >= WATCHED then watched[#watched + 1] = group[1] end
  end
  all_after(fresh, domains)
  keep_beside(links, fresh, 'spelling', links[5])
  keep_beside(links, fresh, 'request', links[6])
  call('HSET', key('counts'), 'number', counts[1] + #links[2], 'seen', counts[3] + taken, 'queued', counts[4] + taken)
  for reason, number in pairs(refused) do
    count('refused/' .. reason, number)
    over = over + number
  end
  return taken, over, watched
end
