-- _4_intake.lua: adds the URLs of links, each once, within the budgets.
-- Links are {groups, ids, paths, scores less the discovery number before, {index: spelling}, {index: request}, {index: note},
-- what a link does to a URL that waits ("", "add" or "raise"), width of a class of priorities or 0, 1 where the page repeats another, else 0, 1 to be told what became of each link, else nothing};
-- a group {server, domain, number of links, path prefixes or nil, its first place or nil} has the next so many places of the other lists.
-- Limits are {URLs of a server, of a domain, servers of a domain, URLs of a prefix, URLs of a domain in every, so many leases, URLs queued}; 0: none.
-- What is asked about all servers of a page is one command, as commands take most of a call's time.

local SEEN = PREFIX .. 'seen:'
local WATCHED = 1000 -- URLs of a server from which on its path prefixes are counted

local function highest(limits)
  local found = {}
  for i, n in ipairs(limits) do found[i] = n > 0 and n or math.huge end
  return found
end

-- Returns the groups with new links and the indexes of these; if links raise waiting URLs, also the groups with known links and theirs.
-- Ids are kept in 10,000 sets, by their last four digits.
local function unseen(links)
  local fresh, new, old, known, ids, i = {}, {}, {}, {}, links[2], 0
  local raises = links[8] ~= '' or next(links[7]) ~= nil or links[10] == 0 and call('HEXISTS', key('meta'), 'late') == 1
  for _, group in ipairs(links[1]) do
    local places, others
    for _ = 1, group[3] do
      i = i + 1
      local id = ids[i]
      if call('SADD', SEEN .. string.sub(id, -4), id) == 1 then
        if places then places[#places + 1] = i else places = {i} end
      elseif raises then
        if others then others[#others + 1] = i else others = {i} end
      end
    end
    if places then fresh[#fresh + 1], new[#new + 1] = group, places end
    if others then old[#old + 1], known[#known + 1] = group, others end
  end
  return fresh, new, old, known
end

local function names_of(fresh, which)
  local names = {}
  for n, group in ipairs(fresh) do names[n] = group[which] end
  return names
end

-- For each server: URLs added so far; its rank if it is ready; whether it has a queue.
local function servers_before(fresh)
  local names = names_of(fresh, 1)
  local taken, ranks, waits = bulk('HMGET', key('taken'), names), bulk('ZMSCORE', key('ready'), names), bulk('ZMSCORE', key('wait'), names)
  for n, rank in ipairs(bulk('ZMSCORE', key('doubtful'), names)) do ranks[n] = ranks[n] or rank end
  return names, taken, ranks, waits
end

-- For each domain: URLs added so far; if there is a share, also those of the present window of leases.
local function domains_before(fresh, limits, turn, last_window)
  local names, urls, shares, window = names_of(fresh, 2), {}, {}, math.floor(turn / math.max(1, limits[6]))
  local known = bulk('HMGET', key('domains'), names)
  for n, name in ipairs(names) do urls[name] = tonumber(known[n] or 0) end
  if limits[5] > 0 then
    if tonumber(last_window or -1) ~= window then
      call('DEL', key('windows'))
      call('HSET', key('counts'), 'window', window)
    end
    known = bulk('HMGET', key('windows'), names)
    for n, name in ipairs(names) do shares[name] = tonumber(known[n] or 0) end
  end
  return urls, shares
end

local function pairs_of(table)
  local flat, n = {}, 0
  for name, value in pairs(table) do
    flat[n + 1], flat[n + 2] = name, value
    n = n + 2
  end
  return flat
end

-- Forgets that a URL over a budget was seen, so that a later link can add it.
local function refuse(id, reason, refused)
  call('SREM', SEEN .. string.sub(id, -4), id)
  refused[reason] = (refused[reason] or 0) + 1
end

-- Path prefixes of a group's new links by index, and the URLs so far of each.
local function prefixes_before(group, new, first)
  local prefixes, numbers = {}, {}
  local known = bulk('HMGET', site_of(group[1]), group[4])
  for n, name in ipairs(group[4]) do numbers[name] = math.abs(tonumber(known[n] or 0)) end -- below 0 in older frontiers
  for _, i in ipairs(new) do prefixes[i] = group[4][i - first + 1] end
  return prefixes, numbers
end

-- Returns a group's new links that are within all budgets, and counts those of each prefix.
local function within_budget(group, new, links, before, prefixes, numbers, urls, share, limits, room, refused, told)
  local kept = {}
  local servers = before == 0 and urls > 0 and 1 + tonumber(call('HGET', key('others'), group[2]) or 0) or 0
  for _, i in ipairs(new) do
    local name, taken = prefixes and prefixes[i], #kept
    local over = before + taken >= limits[1] and 'budget-server'
      or urls + taken >= limits[2] and 'budget-domain'
      or servers >= limits[3] and 'budget-domain-servers'
      or name and numbers[name] >= limits[4] and 'budget-prefix'
      or share + taken >= limits[5] and 'budget-share'
      or taken >= room and 'full'
    if over then
      refuse(links[2][i], over, refused)
      if told then told[#told + 1], told[#told + 2] = group[1] .. links[3][i], over end
    else
      kept[taken + 1] = i
      if name then numbers[name] = numbers[name] + 1 end
    end
  end
  return kept
end

-- Queues new links of a server, those of a page that repeats another behind; returns the best score.
local function enqueue(server, new, links, start)
  local paths, scores, entries, lowest, n = links[3], links[4], {}, math.huge, 0
  for _, i in ipairs(new) do
    local score = start + scores[i]
    if links[10] == 1 then score = BEHIND + NUMBERS + score % NUMBERS end
    if score < lowest then lowest = score end
    entries[n + 1], entries[n + 2] = score, paths[i]
    n = n + 2
  end
  bulk('ZADD', queue_of(server), entries)
  return lowest
end

local function count_newcomer(group, number, urls)
  call('HSET', site_of(group[1]), 'newcomer', number)
  if urls > 0 then
    call('HINCRBY', key('others'), group[2], 1)
    call('HSET', site_of(group[1]), 'domain', group[2])
  end
  count('servers', 1)
end

local function keep_beside(links, fresh, new, name, column)
  for n, group in ipairs(next(column) and fresh or {}) do
    for _, i in ipairs(new[n]) do
      if column[i] then call('HSET', key(name), group[1] .. ' ' .. links[3][i], column[i]) end
    end
  end
end

-- Adds {URL, score, …} of links that were queued.
local function tell_queued(server, new, paths, told)
  for _, i in ipairs(new) do
    told[#told + 1], told[#told + 2] = server .. paths[i], call('ZSCORE', queue_of(server), paths[i])
  end
end

-- Returns how many were new, how many were refused, and the servers whose path prefixes should be sent;
-- where that is asked, also {{URL, score, …} of the new ones, {URL, reason, …} of those refused}.
local function take_in(links, limits, now, turns)
  local fresh, new, old, places = unseen(links)
  for n, group in ipairs(old) do raise(group[1], places[n], links, now, turns) end
  if not fresh[1] then return 0, 0, {} end
  local counts = call('HMGET', key('counts'), 'number', 'turn', 'seen', 'queued', 'window')
  for i = 1, 4 do counts[i] = tonumber(counts[i] or 0) end
  local start, room = counts[1], limits[7] > 0 and math.max(1, limits[7] - counts[4]) or math.huge -- EW: one a page when full
  local servers, before, ranks, waits = servers_before(fresh)
  local urls, shares = domains_before(fresh, limits, counts[2], counts[5])
  local most, total, refused, taken, of_domains, watched = highest(limits), 0, {}, {}, {}, {}
  local told = links[11] == 1 and {{}, {}} or nil

  -- Moves a server to where it belongs now that its queue has grown; a newcomer has the number of its first URL.
  local function place_again(n, lowest, newcomer)
    local rank = tonumber(ranks[n] or nil)
    if not rank and not waits[n] then
      enter_server(servers[n], lowest, now, turns, newcomer)
    elseif rank and (not turns and lowest < rank or turns and rank >= 2 * TURN) then
      wake(servers[n], now, turns)
    end
  end

  for n, group in ipairs(fresh) do
    local server, domain, known, number, prefixes, numbers = group[1], group[2], tonumber(before[n] or 0), #new[n], nil, nil
    if group[4] then prefixes, numbers = prefixes_before(group, new[n], group[5]) end
    if known + number > most[1] or urls[domain] + number > most[2] or prefixes or shares[domain] or number > room - total
      or known == 0 and urls[domain] > 0 then
      new[n] = within_budget(group, new[n], links, known, prefixes, numbers, urls[domain], shares[domain] or 0, most, room - total, refused, told and told[2])
      number = #new[n]
    end
    if number > 0 then
      local newcomer = known == 0 and (start + links[4][new[n][1]]) % NUMBERS or nil
      if newcomer then count_newcomer(group, newcomer, urls[domain]) end
      local lowest = enqueue(server, new[n], links, start)
      if told then tell_queued(server, new[n], links[3], told[1]) end
      place_again(n, lowest, lowest < BEHIND and newcomer or nil)
      if prefixes then bulk('HSET', site_of(server), pairs_of(numbers)) end
      total, taken[server], urls[domain] = total + number, known + number, urls[domain] + number
      of_domains[domain] = urls[domain]
      if shares[domain] then shares[domain] = shares[domain] + number end
    end
    if not prefixes and known + number >= WATCHED then watched[#watched + 1] = server end
  end

  if total > 0 then
    bulk('HSET', key('taken'), pairs_of(taken))
    bulk('HSET', key('domains'), pairs_of(of_domains))
    if limits[5] > 0 then
      for name in pairs(of_domains) do call('HSET', key('windows'), name, shares[name]) end
    end
    if links[10] == 1 then call('HSET', key('meta'), 'late', 1) end
    keep_beside(links, fresh, new, 'spelling', links[5])
    keep_beside(links, fresh, new, 'request', links[6])
    keep_beside(links, fresh, new, 'note', links[7])
    call('HSET', key('counts'), 'number', start + #links[2], 'seen', counts[3] + total, 'queued', counts[4] + total)
  end
  local over = 0
  for reason, number in pairs(refused) do
    count('refused/' .. reason, number)
    over = over + number
  end
  return total, over, watched, told
end
