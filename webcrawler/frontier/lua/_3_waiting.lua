-- _3_waiting.lua: changes the scores of waiting URLs.

local function priority_of(score) return -math.floor(score / NUMBERS) end

-- May its score change? Not where it goes behind all others, or before them.
local function is_movable(score) return score < BEHIND and score >= FIRST end

local function with_priority(score, priority) return score % NUMBERS - priority * NUMBERS end

-- Changes the score of a URL that waits to be tried again; the score is kept in `tries`. Returns 1 if the URL waits so, else 0.
local function change_later(member, change, n)
  if not call('ZSCORE', key('retry'), member) then return 0 end
  local tries, score = string.match(call('HGET', key('tries'), member), '^(%d+) (.*)$')
  call('HSET', key('tries'), member, tries .. ' ' .. string.format('%.0f', change(tonumber(score), n)))
  return 1
end

-- Sets the score of each waiting URL among `paths` of a server to change(score, index in `paths`).
-- Returns how many of them wait.
local function change_scores(server, paths, change, now, turns)
  local waiting, entries = 0, {}
  local retries = call('EXISTS', key('retry')) == 1
  for n, score in ipairs(bulk('ZMSCORE', queue_of(server), paths)) do
    if score then
      local old = tonumber(score)
      local new = change(old, n)
      if new ~= old then entries[#entries + 1], entries[#entries + 2] = new, paths[n] end
      waiting = waiting + 1
    elseif retries then
      waiting = waiting + change_later(server .. ' ' .. paths[n], change, n)
    end
  end
  if entries[1] then
    local head = head_of(server)
    bulk('ZADD', queue_of(server), entries)
    if head_of(server) ~= head then wake(server, now, turns) end
  end
  return waiting
end

-- Stores the ordering's note of a waiting URL if it is higher than the one stored.
local function note(server, path, number)
  local member = server .. ' ' .. path
  if not (call('ZSCORE', queue_of(server), path) or call('ZSCORE', key('retry'), member)) then return end
  if number > tonumber(call('HGET', key('note'), member) or 0) then call('HSET', key('note'), member, number) end
end

-- The new priority of a URL that one more page links to: "add" adds that of the link, "raise" takes the higher. It stays in its class.
local function raised(old, new, how, band)
  if band == 0 then return math.max(-PRIORITY_MAX, math.min(how == 'raise' and math.max(old, new) or old + new, PRIORITY_MAX)) end
  local class = math.floor(old / band) * band
  return class + math.min(raised(old - class, new % band, how, 0), band - 1)
end

-- Raises the waiting URLs of a server by the new links to them: what only repeats have linked to so far comes forward to the priority of the link.
local function raise(server, places, links, now, turns)
  local paths, notes, how, band = {}, links[7], links[8], links[9]
  for n, i in ipairs(places) do paths[n] = links[3][i] end
  local come_forward = links[10] == 0
  if how ~= '' or come_forward then
    change_scores(server, paths, function(score, n)
      local priority = priority_of(links[4][places[n]])
      if come_forward and score >= BEHIND + NUMBERS then return with_priority(score, priority) end
      return how ~= '' and is_movable(score) and with_priority(score, raised(priority_of(score), priority, how, band)) or score
    end, now, turns)
  end
  if next(notes) then
    for n, i in ipairs(places) do
      if notes[i] then note(server, paths[n], notes[i]) end
    end
  end
end
