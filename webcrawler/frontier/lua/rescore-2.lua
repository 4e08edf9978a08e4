-- rescore-2.lua: gives waiting URLs another priority; discovery numbers stay, and URLs behind all others stay there.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] msgpack of groups {server, {path, …}, {priority, …}}   ARGV[2] width of the classes that URLs stay in, or 0
-- Returns how many waited.      Cost O(log queue) each.
local now, turns, waiting, band = now_ms(), by_turn(), 0, tonumber(ARGV[2])
for _, group in ipairs(cmsgpack.unpack(ARGV[1])) do
  local priorities = group[3]
  waiting = waiting + change_scores(group[1], group[2], function(score, n)
    if not is_movable(score) then return score end
    local class = band > 0 and math.floor(priority_of(score) / band) * band or 0
    return with_priority(score, class + priorities[n])
  end, now, turns)
  wake(group[1], now, turns) -- also where no score has changed: the mode may have
end
return waiting
