-- rescore-2.lua: gives URLs that wait another priority; discovery numbers stay, and what goes behind all others stays there.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] msgpack of groups {server, {path, …}, {priority, …}}
-- Returns how many waited.      Cost O(log queue) each.
local now, turns, changed = now_ms(), by_turn(), 0

local function rescored(old, priority)
  if tonumber(old) >= BEHIND then return tonumber(old) end
  return tonumber(old) % NUMBERS - priority * NUMBERS
end

for _, group in ipairs(cmsgpack.unpack(ARGV[1])) do
  local server, paths, priorities = group[1], group[2], group[3]
  local entries = {}
  for i, path in ipairs(paths) do
    local member = server .. ' ' .. path
    local old = call('ZSCORE', queue_of(server), path)
    if old then
      entries[#entries + 1], entries[#entries + 2] = rescored(old, priorities[i]), path
    elseif call('ZSCORE', key('retry'), member) then
      local tries, score = string.match(call('HGET', key('tries'), member), '^(%d+) (.*)$')
      call('HSET', key('tries'), member, tries .. ' ' .. string.format('%.0f', rescored(score, priorities[i])))
      changed = changed + 1
    end
  end
  if entries[1] then
    call('ZADD', queue_of(server), 'XX', unpack(entries))
    changed = changed + #entries / 2
    wake(server, now, turns)
  end
end
return changed
